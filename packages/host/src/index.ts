// The only barrel of the package.
export * from "./errors.js";
export * from "./clock.js";
export * from "./start-error.js";
export * from "./commands.js";
export * from "./files.js";
export * from "./log.js";
export type * from "./services/service-driver.js";
export * from "./services/supervised-driver.js";
export * from "./services/systemd-driver.js";
export * from "./digest.js";
export * from "./bell.js";
export * from "./watch.js";
export * from "./watch-files.js";
export * from "./exclusive.js";
export * from "./config-file.js";
export * from "./parse-json.js";
export * from "./standard-output.js";
