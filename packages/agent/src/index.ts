// What a test or an embedding program needs; the command line is main.ts.
export * from "./config.js";
export * from "./create-agent.js";
export * from "./create-cli.js";
