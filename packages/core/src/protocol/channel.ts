/** What comes out of a channel. Nothing comes after `closed`. */
export interface ChannelListener {
  frame(bytes: Uint8Array): void;
  /** Something arrived that is no frame but proves that the peer lives (a pong). */
  alive(): void;
  closed(code: number, reason: string): void;
}

/**
 * A connection that carries whole binary frames in order: a WebSocket, or two ends in memory for tests. Calls never throw; after the end they
 * do nothing.
 */
export interface Channel {
  /** Octets given to `send` that have not left yet. */
  readonly bufferedBytes: number;
  listen(listener: ChannelListener): void;
  send(frame: Uint8Array): void;
  ping(): void;
  /** Ends politely: frames already sent arrive first. */
  close(code: number, reason: string): void;
  /** Ends at once. */
  terminate(): void;
}

/** WebSocket close codes (RFC 6455 section 7.4; 4000 and above are ours). */
export const CLOSE = {
  normal: 1000,
  goingAway: 1001,
  tooBig: 1009,
  refused: 4403,
  replaced: 4409,
  silent: 4408,
  slow: 4429,
} as const;
