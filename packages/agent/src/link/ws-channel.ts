import type { WebSocket } from "ws";
import type { Channel } from "@berth/core";

/** An open WebSocket as a channel of whole binary frames; it is silent until somebody listens. */
export function createWsChannel(socket: WebSocket): Channel {
  const open = (): boolean => socket.readyState === socket.OPEN;
  socket.pause();
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
      if (open()) socket.resume();
      else
        queueMicrotask(() => {
          listener.closed(1006, "closed before it was used");
        });
    },
    send(frame) {
      if (open()) socket.send(frame, { binary: true });
    },
    ping() {
      if (open()) socket.ping();
    },
    close(code, reason) {
      socket.close(code, reason.slice(0, 100));
    },
    terminate() {
      socket.terminate();
    },
  };
}
