import { requestToken } from './grant.ts'
import type { Family, Load } from './load.ts'
import { describeReception } from './send.ts'
import { findMissingClients } from './stored-facts.ts'
import type { Stage } from './stage.ts'
import type { Tally } from './tally.ts'

export interface AuditResult {
  /** Acknowledged writes that are no longer in effect. */
  readonly lost: number
  /** Redeemed or replaced credentials that are valid again. */
  readonly resurrected: number
}

/** The number of clients that are also tested by requests. All clients are looked up in the database. */
const SAMPLE = 200

/** Checks at the end that every acknowledged write is in effect and that no spent credential is valid. */
export async function audit(stage: Stage, tally: Tally, { client, facts }: Load): Promise<AuditResult> {
  const counts = { lost: 0, resurrected: 0 }
  const note = (kind: keyof typeof counts, what: string): void => {
    counts[kind] += 1
    tally.note(`${kind}: ${what}`)
  }

  const ids = facts.clients.map(({ client_id }) => client_id)
  for (const id of await findMissingClients(stage.database, ids)) note('lost', `the client ${id}`)
  for (const one of sample(facts.clients)) {
    const reception = await requestToken(stage, one, { grant_type: 'client_credentials' }, stage.port)
    if (reception.kind !== 'answer' || reception.status !== 200)
      note('lost', `the client ${one.client_id} had ${describeReception(reception)}`)
  }

  for (const family of facts.families) await auditFamily(family, note)

  for (const grant of sample(facts.codes.filter(({ operations }) => operations.some(wasIssued)))) {
    const { output, reception } = await grant.redeem()
    if (output?.kind !== 'refused') note('resurrected', `a spent code had ${describeReception(reception)}`)
  }

  for (const grant of [...facts.codes, ...facts.families.map((family) => family.grant)])
    if (!grant.isLinearizable())
      tally.note(
        `no order explains this history of ${client.client_id}: ${JSON.stringify(grant.operations.slice(-20))}`,
      )
  return counts
}

/** The live token must be valid. A token that is two generations older must be refused and must revoke the family. */
async function auditFamily(
  { grant, live, spent }: Family,
  note: (kind: 'lost' | 'resurrected', what: string) => void,
): Promise<void> {
  const { output, reception } = await grant.refresh(live)
  if (output?.kind !== 'issued') note('lost', `a live refresh token had ${describeReception(reception)}`)
  const old = spent.at(-1)
  if (old === undefined || output?.kind !== 'issued') return
  const again = await grant.refresh(old)
  if (again.output?.kind !== 'refused')
    note('resurrected', `a spent refresh token had ${describeReception(again.reception)}`)
  const revoked = await grant.refresh(output.refreshToken)
  if (revoked.output?.kind !== 'refused')
    note('resurrected', `a revoked family had ${describeReception(revoked.reception)}`)
}

function wasIssued({ output }: { readonly output: { readonly kind: string } | undefined }): boolean {
  return output?.kind === 'issued'
}

/** The last elements, whose rows were written last. */
function sample<T>(all: readonly T[]): readonly T[] {
  return all.slice(-SAMPLE)
}
