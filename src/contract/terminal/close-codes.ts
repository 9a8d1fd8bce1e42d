/** Why a server closes a WebSocket. */
export const closeCodes = {
  done: 1000,
  protocol_error: 1002,
  restarting: 1012,
  too_slow: 1013,
  taken_over: 4001,
  unauthenticated: 4401,
  forbidden: 4403,
  not_found: 4404,
} as const;
