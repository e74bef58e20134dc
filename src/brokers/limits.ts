/** Most different things about messages that a broker tells its logger, because anybody may post anything. */
export const REFUSALS_TOLD_MAX = 100;
