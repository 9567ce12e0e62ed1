/** Version of the software, the same in every package of a release; a test compares it with their package.json. */
export const BERTH_VERSION = "0.1.0";
