/** What a link tells the broker that opened it. */
export interface LinkListener {
  /** The link sends and receives from now on. Called after each new connection. */
  connected(): void;
  /** The link neither sends nor receives until `connected` is called again. May be called again with another reason. */
  lost(reason: unknown): void;
  /** A message came. */
  received(text: string): void;
  /** What is sent does not come back, although it is taken, so that others are not heard either. Called at most once.
   *  @param reason why, and what to do, for the log */
  deaf(reason: string): void;
}

/** A connection to a server that carries texts to everybody on the same channel, and connects again by itself. */
export interface Link {
  /** Sends messages in this order. Resolves when the server has taken them; rejects when there is no connection, or
   *  when it is not known whether the server has them. */
  send(messages: readonly string[]): Promise<void>;
  /** Resolves when the server has answered over each connection. */
  ping(): Promise<unknown>;
  /** The server does not answer: tells the listener that the link is lost, ends the connections that the link made, and
   *  makes new ones. A client of the caller's is left to the caller. */
  reconnect(reason: unknown): void;
  /** Ends the connections that the link made. Must not hang when the server does. */
  close(): Promise<void>;
}

/** How a broker reaches its server. */
export interface LinkMaker {
  /** Name of the server for messages, without credentials. */
  readonly address: string;
  /** Texts that no message may show, such as the password. */
  readonly secrets: readonly string[];
  /** Which of the stores that share the channel the events belong to. */
  readonly namespace: string;
  /** Largest message, in bytes of UTF-8. Longer ones are not read. */
  readonly bytesMax: number;
  /** Begins to connect, and returns without waiting for the server. Rejects only when trying again would not help, for
   *  example because a package is missing. */
  make(listener: LinkListener): Promise<Link>;
}
