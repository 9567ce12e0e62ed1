// Fakes of the ports, for unit tests; each passes the same contract suite as the real one (test/contract).
export * from "./clock.js";
export * from "./follow-files.js";
export * from "./memory-files.js";
export * from "./scripted-commands.js";
