import type { WebSocket } from "ws";
import { CLOSE, type Channel } from "@berth/core";

/** A WebSocket as a channel of whole binary frames. */
export function createWsChannel(socket: WebSocket): Channel {
  const open = (): boolean => socket.readyState === socket.OPEN;
  return {
    get bufferedBytes() {
      return socket.bufferedAmount;
    },
    listen(listener) {
      socket.on("message", (payload, isBinary) => {
        const bytes = Array.isArray(payload) ? Buffer.concat(payload) : Buffer.from(payload as Buffer);
        listener.frame(isBinary ? bytes : new Uint8Array());
      });
      const alive = (): void => {
        listener.alive();
      };
      socket.on("ping", alive);
      socket.on("pong", alive);
      socket.on("close", (code, reason) => {
        listener.closed(code, reason.toString("utf8"));
      });
      // "close" follows every error (ws documentation, event "error") and carries the code.
      socket.on("error", alive);
    },
    send(frame) {
      if (open()) socket.send(frame, { binary: true });
    },
    ping() {
      if (open()) socket.ping();
    },
    close(code, reason) {
      socket.close(code === 1006 ? CLOSE.goingAway : code, reason.slice(0, 100));
    },
    terminate() {
      socket.terminate();
    },
  };
}
