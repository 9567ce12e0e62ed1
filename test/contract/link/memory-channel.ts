import type { Channel, ChannelListener } from "@berth/core";

interface End {
  readonly channel: Channel;
  readonly inbox: ({ readonly frame: Uint8Array } | { readonly close: readonly [number, string] })[];
  listener: ChannelListener | null;
  closed: boolean;
}

/** Two ends of a connection in memory, as whole frames in order, each delivered in a turn of its own; too large a frame ends it as ws does. */
export function memoryChannels(frameBytesMax: number): readonly [Channel, Channel] {
  const ends: [End, End] = [newEnd(), newEnd()];
  const wire = (self: End, peer: End): void => {
    Object.assign(self.channel, {
      listen(listener: ChannelListener) {
        self.listener = listener;
        deliver(self);
      },
      send(frame: Uint8Array) {
        if (self.closed) return;
        if (frame.length > frameBytesMax) {
          finish(ends, 1009, "Max payload size exceeded");
          return;
        }
        peer.inbox.push({ frame: frame.slice() });
        deliver(peer);
      },
      ping: () =>
        setImmediate(() => {
          if (!self.closed && peer.listener !== null) self.listener?.alive();
        }),
      close(code: number, reason: string) {
        if (self.closed) return;
        peer.inbox.push({ close: [code, reason] });
        deliver(peer);
      },
      terminate() {
        finish(ends, 1006, "");
      },
    });
    Object.defineProperty(self.channel, "bufferedBytes", { get: () => waiting(peer) });
  };
  wire(ends[0], ends[1]);
  wire(ends[1], ends[0]);
  const deliver = (end: End): void => {
    setImmediate(() => {
      while (!end.closed && end.listener !== null) {
        const item = end.inbox.shift();
        if (item === undefined) return;
        if ("frame" in item) end.listener.frame(item.frame);
        else finish(ends, ...item.close);
      }
    });
  };
  return [ends[0].channel, ends[1].channel];
}

function newEnd(): End {
  return { channel: {} as Channel, inbox: [], listener: null, closed: false };
}

function waiting(end: End): number {
  return end.inbox.reduce((sum, item) => sum + ("frame" in item ? item.frame.length : 0), 0);
}

function finish(ends: readonly End[], code: number, reason: string): void {
  for (const end of ends) {
    if (end.closed) continue;
    end.closed = true;
    setImmediate(() => end.listener?.closed(code, reason));
  }
}
