/** How often, during one lease, the event loop gives a sign of life, and the lease thread looks for it. A loop that
 *  becomes blocked is noticed after a third of a lease and two such pauses. A lease has then a quarter of its time left
 *  at least, because the scheduler extends it every third. */
export const LOOKS_PER_LEASE = 24;
