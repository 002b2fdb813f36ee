import type { ClientRecord } from '../../ports/records/client.ts'
import { clientPolicy } from '../../principals/evaluate-client.ts'
import { evaluateClientPolicy, type PolicyRefusal } from '../../protocol/client-policy.ts'
import { openDomainRules } from '../../protocol/domain-rule.ts'
import { ok, warning, type Examination, type Finding } from './finding.ts'

/** The ids that a finding names. */
const NAMED = 3

/** A client that got tokens, and why the server would refuse it if it came again. */
interface Refused {
  readonly client: ClientRecord
  readonly reason: PolicyRefusal['reason']
}

/**
 * Finds clients in use that could not come in again, because the modes or the rules for domains changed after they came. A closed mode
 * is a decision of the operator, and such clients stay usable. The tokens of a client whose domain was blocked stay valid too, which an
 * operator may not expect.
 */
export function checkClients({ choices, store: { clients } }: Examination): readonly Finding[] {
  if (clients === undefined || clients.newest.length === 0) return []
  const policy = clientPolicy(choices, openDomainRules(clients.domains))
  const refused = clients.newest.flatMap((client): readonly Refused[] => {
    const verdict = evaluateClientPolicy(policy, { client, moment: 'enter', redirectUri: undefined })
    return verdict.kind === 'refused' && client.usedAt !== undefined ? [{ client, reason: verdict.reason }] : []
  })
  const blocked = refused.filter(({ reason }) => reason === 'domain-blocked')
  const late = refused.filter(({ reason }) => reason !== 'domain-blocked')
  const examined = `Of the newest ${clients.newest.length} clients`
  return [
    late.length === 0
      ? ok('clients', `${examined}, each that is in use could come in again, or has a blocked domain.`)
      : ok('clients', `${examined}, ${late.length} in use could not come in again, but stay usable: ${idsOf(late)}.`),
    ...(blocked.length === 0
      ? []
      : [
          warning(
            'clients',
            `${examined}, ${blocked.length} in use have a blocked domain, and their tokens stay valid: ${idsOf(blocked)}.`,
            'See "grantor client list --trust-level blocked". To revoke the tokens of a client: grantor client disable <client>',
          ),
        ]),
  ]
}

function idsOf(refused: readonly Refused[]): string {
  const ids = refused.slice(0, NAMED).map(({ client }) => client.id)
  return [...ids, ...(refused.length > NAMED ? ['…'] : [])].join(', ')
}
