// The only barrel of the package.
export * from "./errors.js";
export * from "./clock.js";
export * from "./commands.js";
export * from "./files.js";
export * from "./log.js";
