import type { RegisteredClient } from '../../../tools/flow.ts'
import { DEVICE_CODE } from '../../../src/protocol/token/grant-types.ts'
import type { TestServer } from '../server.ts'
import { perform, type Members } from '../tasks.ts'

/** Settings with which devices can be connected, also from other networks: by a proxy on this machine (`from`). */
export const DEVICES_ON = { GRANTOR_DEVICE_GRANT: 'on', GRANTOR_TRUST_PROXY: '127.0.0.1' } as const

/** Creates a client of the operator with the device grant, by default a public one. */
export function createDeviceClient(
  { context }: Pick<TestServer, 'context'>,
  metadata: Members = {},
): Promise<RegisteredClient> {
  return perform<RegisteredClient>(context, 'client.create', {
    client_name: 'Acme CLI',
    grant_types: [DEVICE_CODE, 'refresh_token'],
    token_endpoint_auth_method: 'none',
    ...metadata,
  })
}
