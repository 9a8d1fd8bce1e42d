import { defined } from "#contract/values/defined.ts";
import type { HostClient } from "#host/socket/client.ts";
import type { AttachRequest, HostAttachment } from "./session-host.ts";

const NO_BYTES = Buffer.alloc(0);

/** Attaches on this connection. Requests are sent before the method returns, so they arrive in order. */
export async function attachTo(
  client: HostClient,
  request: AttachRequest,
): Promise<HostAttachment> {
  const { session_id } = request;
  const { attachment, generation, session, applied } = await client.call("session.attach", request);
  return {
    session,
    generation: generation ?? undefined,
    applied,
    type: async ({ bytes, inputId, number, generation }) => {
      const typed = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      if (number !== undefined)
        await client.typeNumbered({
          ...{ attachment, number, input_id: inputId, bytes: typed, eof: false },
        });
      else if (client.canType) await client.type(attachment, typed, inputId);
      else {
        const data_b64 = typed.toString("base64");
        const input = { session_id, data_b64, generation, ...named(inputId) };
        await client.call("session.input", input);
      }
    },
    eof: async ({ inputId, number, generation }) => {
      if (number !== undefined)
        await client.typeNumbered({
          ...{ attachment, number, input_id: inputId, bytes: NO_BYTES, eof: true },
        });
      else
        await client.call("session.input", {
          session_id,
          eof: true,
          generation,
          ...named(inputId),
        });
    },
    resize: async ({ cols, rows, generation }) => {
      await client.call("session.resize", { session_id, cols, rows, generation });
    },
    take: async ({ takeover }) =>
      (await client.call("session.take", { attachment, takeover })).generation,
    release: async () => {
      await client.call("session.release", { attachment });
    },
    renew: async () => (await client.call("session.renew", { attachment })).held,
    detach: async () => {
      await client.call("session.detach", { attachment });
    },
  };
}

function named(inputId: string | undefined): { readonly input_id?: string } {
  return defined({ input_id: inputId });
}
