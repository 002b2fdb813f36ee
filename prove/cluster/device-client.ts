import { createClient } from '../../src/admin/client/metadata.ts'
import { DEFAULT_RULES } from '../../src/protocol/client/policy.ts'
import { DEVICE_CODE, type ClientGrantType } from '../../src/protocol/token/grant-types.ts'
import { NO_SCOPE } from '../../src/protocol/token/scope.ts'
import type { RegisteredClient } from '../../tools/flow.ts'
import { openStoreOf } from '../../tools/runtime.ts'
import type { Cluster } from './cluster.ts'

const GRANT_TYPES: ClientGrantType[] = [DEVICE_CODE, 'refresh_token']

/** Creates a client with the device grant, as a command does while the nodes run. */
export async function createDeviceClient({ settings }: Pick<Cluster, 'settings'>): Promise<RegisteredClient> {
  const { context, close } = await openStoreOf(settings)
  const metadata = { client_name: 'Device', grant_types: GRANT_TYPES }
  const { client, secret = '' } = await createClient(context, {
    metadata,
    rules: DEFAULT_RULES,
    approvedScope: NO_SCOPE,
  })
  await close()
  return { client_id: client.id, client_secret: secret }
}
