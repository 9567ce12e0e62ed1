import { DesiredDigests } from "@berth/core";
import { sha256 } from "@berth/host";

/** Of all desired states here: what was digested for the store is known when it is sent. It remembers no longer than the states live. */
export const stateDigests = new DesiredDigests(sha256);
