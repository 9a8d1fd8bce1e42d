/** Every bound that a caller can meet, in one table; `/v1/limits` prints it. No zod in here. */
const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;
const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;

export const limits = {
  sessions_live: 2000,
  viewers_per_session: 500,
  frame_bytes: MIB,
  body_bytes: MIB,
  upload_bytes: 32 * MIB,
  input_bytes: 256 * KIB,
  input_queue_bytes: 4 * MIB,
  input_id_chars: 200,
  input_ids_remembered: 1024,
  environment_bytes: 256 * KIB,
  argument_bytes: 128 * KIB - 1,
  arguments: 4096,
  path_bytes: 4096,
  title_chars: 200,
  detail_chars: 1000,
  label_chars: 200,
  labels: 32,
  terminal_size: 4096,
  screen_cols: 1000,
  screen_rows: 500,
  output_retained_bytes: 64 * MIB,
  events_bytes: GIB,
  event_line_bytes: MIB,
  exited_kept_ms: 7 * DAY_MS,
  exited_kept_count: 1000,
  exited_kept_bytes: 10 * GIB,
  disk_free_floor_bytes: 64 * MIB,
  lease_ms: 30 * SECOND_MS,
  ping_ms: 30 * SECOND_MS,
  dead_peer_ms: 60 * SECOND_MS,
  ticket_ms: 60 * SECOND_MS,
  grace_ms: 250,
  grace_agent_ms: 5 * SECOND_MS,
  grace_longest_ms: 10 * MINUTE_MS,
  tree_kill_ms: 2 * SECOND_MS,
  duration_ms: 3650 * DAY_MS,
  host_idle_ms: 10 * MINUTE_MS,
  host_connections: 4096,
  steer_queue: 5,
  followup_queue: 20,
  list_default: 100,
  list_most: 1000,
} as const;

export type LimitName = keyof typeof limits;
