import { requestToken, THIEF } from '../cluster/grant.ts'
import type { Family, Load } from './load.ts'
import { describeResult, hasStatus } from '../../tools/send.ts'
import { findMissingClients } from '../cluster/stored.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { Findings } from '../findings.ts'

export interface AuditResult {
  /** Acknowledged writes that are no longer in effect. */
  readonly lost: number
  /** Redeemed or replaced credentials that are valid again. */
  readonly resurrected: number
}

/** The number of clients that are also tested by requests. All clients are looked up in the database. */
const SAMPLE = 200

/** Checks at the end that every acknowledged write is in effect and that no spent credential is valid. */
export async function audit(cluster: Cluster, findings: Findings, { client, facts }: Load): Promise<AuditResult> {
  const counts = { lost: 0, resurrected: 0 }
  const report = (kind: keyof typeof counts, what: string): void => {
    counts[kind] += 1
    findings.report(`${kind}: ${what}`)
  }

  const ids = facts.clients.map(({ client_id }) => client_id)
  for (const id of await findMissingClients(cluster.database, ids)) report('lost', `the client ${id}`)
  for (const one of sample(facts.clients)) {
    const result = await requestToken(cluster, one, { grant_type: 'client_credentials' }, cluster)
    if (!hasStatus(result, 200)) report('lost', `the client ${one.client_id} had ${describeResult(result)}`)
  }

  for (const family of facts.families) await auditFamily(family, report)

  for (const grant of sample(facts.codes.filter(({ operations }) => operations.some(wasIssued)))) {
    const { output, result } = await grant.redeem()
    if (output?.kind !== 'refused') report('resurrected', `a spent code had ${describeResult(result)}`)
  }

  for (const grant of [...facts.codes, ...facts.families.map((family) => family.grant)])
    if (!grant.isLinearizable())
      findings.report(
        `no order explains this history of ${client.client_id}: ${JSON.stringify(grant.operations.slice(-20))}`,
      )
  return counts
}

/**
 * The live token must be valid. A token that is two generations older, from another network, must be refused and must hold the family, so that the
 * newest one revokes it.
 */
async function auditFamily(
  { grant, live, spent }: Family,
  report: (kind: 'lost' | 'resurrected', what: string) => void,
): Promise<void> {
  const { output, result } = await grant.refresh(live)
  if (output?.kind !== 'issued') report('lost', `a live refresh token had ${describeResult(result)}`)
  const old = spent.at(-1)
  if (old === undefined || output?.kind !== 'issued') return
  const again = await grant.refresh(old, undefined, THIEF)
  if (again.output?.kind !== 'refused')
    report('resurrected', `a spent refresh token had ${describeResult(again.result)}`)
  const revoked = await grant.refresh(output.refreshToken)
  if (revoked.output?.kind !== 'refused')
    report('resurrected', `a revoked family had ${describeResult(revoked.result)}`)
}

function wasIssued({ output }: { readonly output: { readonly kind: string } | undefined }): boolean {
  return output?.kind === 'issued'
}

/** The last elements, whose rows were written last. */
function sample<T>(all: readonly T[]): readonly T[] {
  return all.slice(-SAMPLE)
}
