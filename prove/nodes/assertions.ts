import { setTimeout as delay } from 'node:timers/promises'
import { openAssertingProvider } from '../../tools/asserting-provider.ts'
import { registerClient } from '../../tools/flow.ts'
import { ASSERTION_GRANT_TYPES, identityAssertionForm } from '../../tools/identity-assertion.ts'
import { openRemoteServer } from '../../tools/remote-server.ts'
import { describeResult, hasStatus } from '../../tools/send.ts'
import { requestToken } from '../cluster/grant.ts'
import { countGrants } from '../cluster/stored.ts'
import type { Campaign } from './campaign.ts'

/** A node knows a new provider after a second. */
const KNOWN_MS = 1500

/**
 * Many concurrent requests present one identity assertion of a new person, on all nodes. One of them gets a token, and the person one account
 * (threats.md JAG-04). Then they present different assertions of another new person, who gets one account too.
 */
export async function assertionRounds(campaign: Campaign, rounds: number): Promise<void> {
  const { cluster, findings, parallel } = campaign
  const client = await registerClient(openRemoteServer(cluster), { grant_types: ASSERTION_GRANT_TYPES })
  const rules = { domains: ['acme.test'], signUp: 'domains' } as const
  const provider = await openAssertingProvider(cluster.settings, client, rules)
  await delay(KNOWN_MS)
  const ports = cluster.nodes.map(({ port }) => port)
  const assertionOf = (person: string): string =>
    provider.assertion({ claims: { sub: person, email: `${person}@acme.test` } })

  async function present(assertions: readonly string[]): Promise<number> {
    const results = await Promise.all(
      assertions.map((one, index) =>
        requestToken(cluster, client, identityAssertionForm(one), {
          port: ports[index % ports.length] ?? cluster.port,
        }),
      ),
    )
    findings.operations += results.length
    const tokens = results.filter((result) => hasStatus(result, 200)).length
    for (const result of results) {
      if (hasStatus(result, 200) || hasStatus(result, 400)) continue
      if (campaign.unavailable !== undefined && hasStatus(result, 503)) campaign.unavailable += 1
      else findings.report(`assertion: a request got ${describeResult(result)}`)
    }
    campaign.grants += tokens
    const grants = await countGrants(cluster.database)
    if (grants !== campaign.grants) findings.report(`assertion: ${campaign.grants} tokens gave ${grants} grants`)
    return tokens
  }

  for (let round = 0; round < rounds; round += 1) {
    const one = assertionOf(`replayed-${round}`)
    const tokens = await present(Array.from({ length: parallel }, () => one))
    if (tokens !== 1) findings.report(`assertion: ${tokens} of ${parallel} replays got tokens`)
    const others = await present(Array.from({ length: ports.length }, () => assertionOf(`new-${round}`)))
    if (others !== ports.length) findings.report(`assertion: ${others} of ${ports.length} new ones got tokens`)
    const { rows } = await cluster.database.query<{ readonly count: string }>(
      `select count(*) as count from users where email like '%-${round}@acme.test'`,
    )
    if (rows[0]?.count !== '2') findings.report(`assertion: two persons have ${rows[0]?.count} accounts`)
  }
  provider.close()
}
