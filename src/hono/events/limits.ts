/** Events that are kept for readers of an HTTP stream that come back, and most UTF-16 units of them: events have some
 *  300 each, but errors may be long. */
export const EVENT_LOG_MAX = 1000;
export const EVENT_LOG_LENGTH_MAX = 4_000_000;

/** How long events are kept when nobody reads them, in milliseconds: longer than a client needs to come back. */
export const EVENT_KEPT_MS = 600_000;

/** Events that wait for a slow reader of an HTTP stream before they are dropped, and the reader is told so: otherwise a
 *  reader that takes nothing would hold memory without end. */
export const EVENT_STREAM_QUEUE_MAX = 2000;

/** HTTP streams of events at a time. Each costs a connection, and its part in the work of every event. */
export const EVENT_STREAMS_MAX = 200;

/** UTF-16 units of events after which a chunk of a stream is full: few writes for a burst, and none so large that a
 *  slow reader waits long for its first event. */
export const EVENT_CHUNK_LENGTH = 65_536;

/** Pause between two heartbeats of an HTTP stream, in milliseconds: proxies end connections that are silent for
 *  some 30 to 60 s. And how many a stream has: it ends after 10 minutes, so that a client whose rights have ended loses
 *  them there too, and clients spread over the instances of a service. */
export const EVENT_BEAT_MS = 15_000;
export const EVENT_STREAM_BEATS = 40;

/** Pause of a browser before it connects again, in milliseconds, so that pages do not call a server that restarts
 *  without a pause. */
export const EVENT_RETRY_MS = 2000;
