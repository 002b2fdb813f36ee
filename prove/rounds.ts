import type { GrantOutput } from './grant-model.ts'
import { openGrant, type Grant, type Outcome } from './grant.ts'
import type { Field } from './nodes-campaign.ts'
import { walk } from './person.ts'
import { describeReception } from './send.ts'
import { countGrants, findAuthorizationOf, findGrants } from './stored-facts.ts'

/** Signs in on one node, consents on the next, redeems on the third and refreshes on the first. */
export async function walkRound(field: Field, number: number): Promise<void> {
  const { stage, tally, client } = field
  const ports = stage.nodes.map(({ port }) => port)
  const portOf = (step: number): number => ports[(number + step) % ports.length] ?? stage.port
  const grant = openGrant({ stage, tally, client, code: await walk(stage, client, [portOf(0), portOf(1)]) })
  const redeemed = await grant.redeem(portOf(2))
  field.grants += 1
  const tokens = tokensOf(redeemed.output)
  if (tokens === undefined) return tally.note(`walk ${number}: the code gave ${describeReception(redeemed.reception)}`)
  const refreshed = await grant.refresh(tokens, portOf(3))
  if (tokensOf(refreshed.output) === undefined)
    tally.note(`walk ${number}: the refresh gave ${describeReception(refreshed.reception)}`)
  checkHistory(field, 'walk', grant)
}

/** Many concurrent requests present one code. One of them gets tokens, which the other requests revoke as replays. */
export async function codeRound(field: Field): Promise<void> {
  const { tally } = field
  const grant = await freshGrant(field)
  const outcomes = await atOnce(field, () => grant.redeem())
  field.grants += 1
  expectAnswers(field, 'code', outcomes)
  const winners = outcomes.filter(({ output }) => output?.kind === 'issued')
  if (winners.length !== 1) tally.note(`code: ${winners.length} of ${outcomes.length} got tokens`)
  const [won] = winners
  const tokens = tokensOf(won?.output)
  if (tokens !== undefined && outcomes.length > 1) {
    const { output, reception } = await grant.refresh(tokens)
    if (output?.kind !== 'refused')
      tally.note(`code: the tokens of a replayed code still give ${describeReception(reception)}`)
  }
  checkHistory(field, 'code', grant)
  await expectStored(field, 'code', grant.idOf(won?.output), { generation: 0, isRevoked: outcomes.length > 1 })
}

/** Many concurrent requests present the live refresh token, and all get the same successor. Then they present the successor, and so on. */
export async function refreshRounds(field: Field, generations: number): Promise<void> {
  const grant = await freshGrant(field)
  let { output } = await grant.redeem()
  field.grants += 1
  const id = grant.idOf(output)
  for (let generation = 1; generation <= generations; generation += 1) {
    const presented = tokensOf(output)
    if (presented === undefined) return field.tally.note('refresh: there is nothing to present')
    const outcomes = await atOnce(field, () => grant.refresh(presented))
    expectAnswers(field, 'refresh', outcomes)
    const successors = new Set(outcomes.map((one) => tokensOf(one.output)))
    if (successors.size !== 1) field.tally.note(`refresh: ${successors.size} different answers to one token`)
    await expectStored(field, 'refresh', id, { generation, isRevoked: false })
    output = outcomes[0]?.output
  }
  checkHistory(field, 'refresh', grant)
}

/** While many requests present the live token, one presents an old token. Afterwards the family is revoked on every node. */
export async function theftRound(field: Field): Promise<void> {
  const { stage, tally, parallel } = field
  const grant = await freshGrant(field)
  const first = tokensOf((await grant.redeem()).output) ?? ''
  field.grants += 1
  const second = await grant.refresh(first)
  const third = tokensOf((await grant.refresh(tokensOf(second.output) ?? '')).output) ?? ''
  const thief = Math.floor(parallel / 2)
  const outcomes = await atOnce(field, (index) => grant.refresh(index === thief ? first : third))
  expectAnswers(field, 'theft', outcomes)
  if (outcomes[thief]?.output?.kind !== 'refused') tally.note('theft: an old token gave tokens')
  const known = new Set([third, ...outcomes.map(({ output }) => tokensOf(output) ?? third)])
  for (const token of known) {
    for (const { port } of stage.nodes) {
      const { output, reception } = await grant.refresh(token, port)
      if (output?.kind !== 'refused') tally.note(`theft: a revoked family gave ${describeReception(reception)}`)
    }
  }
  checkHistory(field, 'theft', grant)
  // The live token was used before the old one, or never.
  const generation = known.size === 1 ? 2 : 3
  await expectStored(field, 'theft', grant.idOf(second.output), { generation, isRevoked: true })
}

async function freshGrant({ stage, tally, client, person }: Field): Promise<Grant> {
  return openGrant({ stage, tally, client, code: await person.obtainCode() })
}

function atOnce({ parallel }: Field, act: (index: number) => Promise<Outcome>): Promise<readonly Outcome[]> {
  return Promise.all(Array.from({ length: parallel }, (_, index) => act(index)))
}

function tokensOf(output: GrantOutput | undefined): string | undefined {
  return output?.kind === 'issued' ? output.refreshToken : undefined
}

/** Without faults, every answer must be tokens or `invalid_grant`. */
function expectAnswers({ tally }: Field, round: string, outcomes: readonly Outcome[]): void {
  for (const { output, reception } of outcomes)
    if (output === undefined) tally.note(`${round}: a request got ${describeReception(reception)}`)
}

function checkHistory({ tally }: Field, round: string, grant: Grant): void {
  if (!grant.isLinearizable())
    tally.note(`${round}: no order explains this history: ${JSON.stringify(grant.operations)}`)
}

interface Expected {
  readonly generation: number
  readonly isRevoked: boolean
}

/** Each grant must have one row, with at most one live token, that of the given generation. Each code must have one grant. */
async function expectStored(field: Field, round: string, grantId: string, expected: Expected): Promise<void> {
  const { stage, tally } = field
  const rows = await findGrants(stage.database, grantId)
  const [row] = rows
  if (rows.length !== 1 || row === undefined)
    return tally.note(`${round}: the grant ${grantId} has ${rows.length} rows`)
  if (row.generation !== expected.generation || row.isRevoked !== expected.isRevoked)
    tally.note(`${round}: stored is ${JSON.stringify(row)}, not ${JSON.stringify(expected)}`)
  const code = await findAuthorizationOf(stage.database, grantId)
  if (code !== 'redeemed') tally.note(`${round}: the code of the grant ${grantId} is ${code}`)
  const grants = await countGrants(stage.database)
  if (grants !== field.grants) tally.note(`${round}: ${field.grants} codes gave ${grants} grants`)
}
