import type { OutboundOutcome } from '../ports/outbound.ts'
import type { ClientRecord } from '../ports/records/client.ts'
import { parseKeySet } from '../protocol/client/keys.ts'
import { hasFapiKey, PROOF_ALGORITHMS } from '../protocol/token/dpop-proof.ts'
import { followsFapi } from '../protocol/client/policy.ts'
import { failed, ok, type Finding } from './finding.ts'
import { forShell } from '../base/shell.ts'

const CHECK = 'client-keys'
/** The most requests of one run. */
const ASKED = 20

/** A client of the profile `fapi2`, which can only authenticate by the keys at this address. */
export interface KeyHolder {
  readonly client: ClientRecord
  readonly uri: string
}

/** The clients of the profile whose keys are fetched: at most twenty of the newest ones. */
export function keyHoldersOf(newest: readonly ClientRecord[]): readonly KeyHolder[] {
  return newest
    .flatMap((client): readonly KeyHolder[] => {
      const { jwks_uri: uri } = client.metadata
      return uri !== undefined && followsFapi(client) && client.disabledAt === undefined ? [{ client, uri }] : []
    })
    .slice(0, ASKED)
}

/** Reports a client of the profile whose keys this machine cannot fetch. Until a copy of a node ends, its requests still succeed. */
export function checkClientKeys({ client: { id }, uri }: KeyHolder, outcome: OutboundOutcome): Finding {
  const keys = outcome.kind === 'fetched' ? parseKeySet(outcome.text) : undefined
  if (keys !== undefined && hasFapiKey(keys)) return ok(CHECK, `The keys of the client ${id} can be fetched.`)
  const reason =
    'reason' in outcome ? outcome.reason : `it is no set of usable keys with one for ${PROOF_ALGORITHMS.join(', ')}`
  return failed(
    CHECK,
    `The client ${id} of the profile fapi2 cannot authenticate, because ${uri} cannot be used: ${reason}.`,
    `The server needs a name server and direct access to the host, without a proxy. Or register the keys themselves: grantor client set-keys ${forShell(id)} --jwks <file>`,
  )
}
