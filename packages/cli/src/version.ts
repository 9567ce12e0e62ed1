/** Of the software; the same in every package of a release. */
export const BERTH_VERSION = "0.1.0";
