import type { GrantOutput } from '../cluster/grant-model.ts'
import { DEVICE_CODE } from '../../src/protocol/token/grant-types.ts'
import { connectDevice, startDevice } from '../../tools/device-flow.ts'
import { openRemoteServer } from '../../tools/remote-server.ts'
import { ofCode, openGrant, THIEF, type Grant, type Outcome } from '../cluster/grant.ts'
import type { Campaign } from './campaign.ts'
import { walk } from '../cluster/user.ts'
import { describeResult, hasStatus } from '../../tools/send.ts'
import { countGrants, findAuthorizationOf, findGrants } from '../cluster/stored.ts'

/** Signs in on one node, consents on the next, redeems on the third and refreshes on the first. */
export async function walkRound(campaign: Campaign, number: number): Promise<void> {
  const { cluster, findings, client } = campaign
  const ports = cluster.nodes.map(({ port }) => port)
  const portOf = (step: number): number => ports[(number + step) % ports.length] ?? cluster.port
  const grant = openGrant({
    cluster,
    findings,
    client,
    redemption: ofCode(await walk(cluster, client, [portOf(0), portOf(1)])),
  })
  const redeemed = await grant.redeem(portOf(2))
  campaign.grants += 1
  const tokens = tokensOf(redeemed.output)
  if (tokens === undefined) return findings.report(`walk ${number}: the code gave ${describeResult(redeemed.result)}`)
  const refreshed = await grant.refresh(tokens, portOf(3))
  if (tokensOf(refreshed.output) === undefined)
    findings.report(`walk ${number}: the refresh gave ${describeResult(refreshed.result)}`)
  checkHistory(campaign, 'walk', grant)
}

/** Many concurrent requests present one code. One of them gets tokens, which the other requests revoke as replays. */
export async function codeRound(campaign: Campaign): Promise<void> {
  await redeemAtOnce(campaign, 'code', await freshGrant(campaign))
}

/** A device starts on one node, its user answers on the next, and then many concurrent polls reach all of them. */
export async function deviceRound(campaign: Campaign, number: number): Promise<void> {
  const { cluster, findings, deviceClient: client } = campaign
  const [start, answer] = [0, 1].map((step) => {
    const remote = openRemoteServer(cluster)
    remote.port = cluster.nodes[(number + step) % cluster.nodes.length]?.port ?? cluster.port
    return remote
  })
  if (start === undefined || answer === undefined) throw new Error('There are no nodes.')
  const { user_code, device_code } = await startDevice(start, client)
  await connectDevice(answer, { user_code })
  const redemption = { grant_type: DEVICE_CODE, device_code }
  await redeemAtOnce(campaign, 'device', openGrant({ cluster, findings, client, redemption }))
}

async function redeemAtOnce(campaign: Campaign, kind: 'code' | 'device', grant: Grant): Promise<void> {
  const { findings } = campaign
  const outcomes = await atOnce(campaign, () => grant.redeem())
  campaign.grants += 1
  expectAnswers(campaign, kind, outcomes)
  const winners = outcomes.filter(({ output }) => output?.kind === 'issued')
  if (winners.length !== 1) findings.report(`${kind}: ${winners.length} of ${outcomes.length} got tokens`)
  const [won] = winners
  const tokens = tokensOf(won?.output)
  if (tokens !== undefined && outcomes.length > 1) {
    const { output, result } = await grant.refresh(tokens)
    if (output?.kind !== 'refused')
      findings.report(`${kind}: the tokens of a replayed code still give ${describeResult(result)}`)
  }
  checkHistory(campaign, kind, grant)
  await expectStored(campaign, kind, grant.idOf(won?.output), { generation: 0, isRevoked: outcomes.length > 1 })
}

/** Many concurrent requests present the live refresh token, and all get the same successor. Then they present the successor, and so on. */
export async function refreshRounds(campaign: Campaign, generations: number): Promise<void> {
  const grant = await freshGrant(campaign)
  let { output } = await grant.redeem()
  campaign.grants += 1
  const id = grant.idOf(output)
  for (let generation = 1; generation <= generations; generation += 1) {
    const presented = tokensOf(output)
    if (presented === undefined) return campaign.findings.report('refresh: there is nothing to present')
    const outcomes = await atOnce(campaign, () => grant.refresh(presented))
    expectAnswers(campaign, 'refresh', outcomes)
    // One of 503, where that may be, is none of them.
    const answers = outcomes.filter((one) => one.output !== undefined)
    const successors = new Set(answers.map((one) => tokensOf(one.output)))
    if (successors.size !== 1) campaign.findings.report(`refresh: ${successors.size} different answers to one token`)
    await expectStored(campaign, 'refresh', id, { generation, isRevoked: false })
    output = answers[0]?.output
  }
  checkHistory(campaign, 'refresh', grant)
}

/** Many concurrent requests of one network present the tokens of three generations. All get the newest one, or its one successor. */
export async function copiesRound(campaign: Campaign): Promise<void> {
  const grant = await freshGrant(campaign)
  const tokens = [tokensOf((await grant.redeem()).output) ?? '']
  campaign.grants += 1
  for (let generation = 1; generation <= 2; generation += 1)
    tokens.push(tokensOf((await grant.refresh(tokens.at(-1) ?? '')).output) ?? '')
  const outcomes = await atOnce(campaign, (index) => grant.refresh(tokens[index % tokens.length] ?? ''))
  expectAnswers(campaign, 'copies', outcomes)
  if (outcomes.some(({ output }) => output?.kind === 'refused')) campaign.findings.report('copies: a copy was refused')
  const id = outcomes.map(({ output }) => grant.idOf(output)).find((one) => one !== '') ?? ''
  checkHistory(campaign, 'copies', grant)
  // Two requests at once present the two earlier tokens only.
  const generation = campaign.parallel < tokens.length ? 2 : 3
  await expectStored(campaign, 'copies', id, { generation, isRevoked: false })
}

/**
 * While many requests present the newest token, one of another network presents an old token. Afterwards the family is held for that network, and
 * the newest token, presented on every node, has revoked it.
 */
export async function theftRound(campaign: Campaign): Promise<void> {
  const { cluster, findings, parallel } = campaign
  const grant = await freshGrant(campaign)
  const first = tokensOf((await grant.redeem()).output) ?? ''
  campaign.grants += 1
  const second = await grant.refresh(first)
  const third = tokensOf((await grant.refresh(tokensOf(second.output) ?? '')).output) ?? ''
  const thief = Math.floor(parallel / 2)
  const outcomes = await atOnce(campaign, (index) =>
    index === thief ? grant.refresh(first, cluster.port, THIEF) : grant.refresh(third),
  )
  expectAnswers(campaign, 'theft', outcomes)
  if (outcomes[thief]?.output?.kind !== 'refused') findings.report('theft: an old token gave tokens')
  const known = new Set([third, ...outcomes.map(({ output }) => tokensOf(output) ?? third)])
  for (const token of known) {
    for (const { port } of cluster.nodes) {
      const { output, result } = await grant.refresh(token, port)
      if (output?.kind !== 'refused') findings.report(`theft: a revoked family gave ${describeResult(result)}`)
    }
  }
  checkHistory(campaign, 'theft', grant)
  // The live token was used before the old one, or never.
  const generation = known.size === 1 ? 2 : 3
  await expectStored(campaign, 'theft', grant.idOf(second.output), { generation, isRevoked: true })
}

async function freshGrant({ cluster, findings, client, user }: Campaign): Promise<Grant> {
  return openGrant({ cluster, findings, client, redemption: ofCode(await user.obtainCode()) })
}

function atOnce({ parallel }: Campaign, act: (index: number) => Promise<Outcome>): Promise<readonly Outcome[]> {
  return Promise.all(Array.from({ length: parallel }, (_, index) => act(index)))
}

function tokensOf(output: GrantOutput | undefined): string | undefined {
  return output?.kind === 'issued' ? output.refreshToken : undefined
}

/** Without faults, every answer must be tokens or `invalid_grant`. */
function expectAnswers(campaign: Campaign, round: string, outcomes: readonly Outcome[]): void {
  for (const { output, result } of outcomes) {
    if (output !== undefined) continue
    if (campaign.unavailable !== undefined && hasStatus(result, 503)) campaign.unavailable += 1
    else campaign.findings.report(`${round}: a request got ${describeResult(result)}`)
  }
}

function checkHistory({ findings }: Campaign, round: string, grant: Grant): void {
  if (!grant.isLinearizable())
    findings.report(`${round}: no order explains this history: ${JSON.stringify(grant.operations)}`)
}

interface Expected {
  readonly generation: number
  readonly isRevoked: boolean
}

/** Each grant must have one row, with at most one live token, that of the given generation. Each code must have one grant. */
async function expectStored(campaign: Campaign, round: string, grantId: string, expected: Expected): Promise<void> {
  const { cluster, findings } = campaign
  const rows = await findGrants(cluster.database, grantId)
  const [row] = rows
  if (rows.length !== 1 || row === undefined)
    return findings.report(`${round}: the grant ${grantId} has ${rows.length} rows`)
  if (row.generation !== expected.generation || row.isRevoked !== expected.isRevoked)
    findings.report(`${round}: stored is ${JSON.stringify(row)}, not ${JSON.stringify(expected)}`)
  const code = await findAuthorizationOf(cluster.database, grantId)
  if (code !== 'approved') findings.report(`${round}: the code of the grant ${grantId} is ${code}`)
  const grants = await countGrants(cluster.database)
  if (grants !== campaign.grants) findings.report(`${round}: ${campaign.grants} codes gave ${grants} grants`)
}
