// The only barrel of the package.
export * from "./cli-ports.js";
export * from "./create-cli.js";
export * from "./run-cli.js";
