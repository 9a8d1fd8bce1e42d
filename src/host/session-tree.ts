import type { SessionKind } from "#contract/session.ts";

export interface TreeNode {
  readonly session_id: string;
  readonly kind: SessionKind;
  readonly parent_session_id: string | null;
}

type FindNode = (sessionId: string) => TreeNode | undefined;

/** Deeper trees are nothing that a program of ours makes. */
const DEPTH = 1000;

/** Whether a session is `root` or descends from it. */
export function isWithin(node: TreeNode, root: string, find: FindNode): boolean {
  for (const one of upFrom(node, find)) if (one.session_id === root) return true;
  return false;
}

/** The session whose connection is used inside of this one: the nearest agent. Undefined: the user's connection. */
export function findBound(node: TreeNode, find: FindNode): string | undefined {
  for (const one of upFrom(node, find)) if (one.kind === "agent") return one.session_id;
  return undefined;
}

/** The session itself and those above it, as far as they are still there. */
function* upFrom(node: TreeNode, find: FindNode): Generator<TreeNode> {
  let next: TreeNode | undefined = node;
  for (let depth = 0; next !== undefined && depth < DEPTH; depth += 1) {
    yield next;
    next = next.parent_session_id === null ? undefined : find(next.parent_session_id);
  }
}
