import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Approval } from '../../../../src/ports/operations/authorization.ts'
import type { StoreDriver } from '../../../../src/ports/store.ts'
import type { EpochMs } from '../../../../src/base/brand.ts'
import { grantIdOf } from '../../../../src/protocol/ids.ts'
import { aGrant, anApproval, anAuthorization, aRedemption, at, aUser, MINUTE } from '../../../support/records.ts'
import { perform, type Suite } from '../harness.ts'
import { aDevice } from './devices.ts'

/** Devices of one client, each of which two browsers of one user may answer. */
const DEVICES = [0] as const
const BROWSERS = [0, 1] as const
const KINDS = ['start', 'connect', 'approve', 'deny', 'poll', 'remove the app', 'disable the user', 'wait'] as const
/** How long a code can be redeemed. */
const CODE_MS = 5 * MINUTE

interface Command {
  readonly kind: (typeof KINDS)[number]
  readonly device: (typeof DEVICES)[number]
  readonly browser: (typeof BROWSERS)[number]
}

/** What the model knows of an answer. `over`: its code was burned, or its grant has ended. */
interface Answer {
  state: 'pending' | 'approved' | 'denied' | 'redeemed' | 'over'
  codeEndsAt: number
}

const COMMAND: fc.Arbitrary<Command> = fc.record({
  kind: fc.oneof(fc.constant('poll' as const), fc.constantFrom(...KINDS)),
  device: fc.constantFrom(...DEVICES),
  browser: fc.constantFrom(...BROWSERS),
})

/** Two of three sequences begin with an answer. */
const BEGIN = ['start', 'connect', 'approve'] as const
const SEQUENCE = fc
  .tuple(fc.constantFrom([], BEGIN, BEGIN.slice(0, 2)), fc.array(COMMAND, { minLength: 3, maxLength: 12 }))
  .map(([begun, rest]) => [...begun.map((kind): Command => ({ kind, device: 0, browser: 0 })), ...rest])

export const deviceModelCases: Suite = (check) => {
  check(
    'DEV-02, DEV-07, DEV-16: in every order a device gets tokens once, by the browser that connected it',
    async ({ first, second }) => {
      const reached = new Set<string>()
      await fc.assert(
        fc.asyncProperty(SEQUENCE, async (commands) => {
          const { apply, open } = await begin(first)
          for (const [index, command] of commands.entries()) {
            const { expected, actual } = await apply(command, index % 2 === 0 ? first : second)
            assert.equal(actual, expected, `${index}: ${JSON.stringify(command)}`)
            reached.add(`${command.kind}: ${actual}`)
          }
          const { expected, actual } = await open(second)
          assert.deepEqual(actual, expected)
        }),
        { seed: 8, numRuns: 20, endOnFailure: true },
      )
      for (const outcome of ['redeemed', 'replayed', 'pending', 'denied', 'expired', 'refused', 'over'])
        assert.ok(reached.has(`poll: ${outcome}`), `${outcome} is not among: ${[...reached].join(', ')}`)
    },
  )
}

async function begin(store: StoreDriver) {
  const user = aUser()
  await perform(store, 'createUser', user)
  const devices = DEVICES.map(() => aDevice())
  const { clientId } = devices[0] as ReturnType<typeof aDevice>
  const requests = devices.map(() => BROWSERS.map(() => anAuthorization({ clientId, expiresAt: at(10 * MINUTE) })))
  for (const request of requests.flat()) await perform(store, 'startAuthorization', request)
  const approvals = new Map<string, Approval>()
  const answers = devices.map(() => BROWSERS.map((): Answer => ({ state: 'pending', codeEndsAt: 0 })))
  const started = devices.map(() => false)
  const connected: (number | undefined)[] = devices.map(() => undefined)
  let isDisabled = false
  let now = at(0)

  /** Runs a command, and returns its outcome with that of the model. */
  async function apply({ kind, device: d, browser: b }: Command, node: StoreDriver) {
    now = (now + 1000) as EpochMs
    const [device, request, answer] = [devices[d], requests[d]?.[b], answers[d]?.[b]]
    assert.ok(device && request && answer)
    const isPending = answer.state === 'pending' && now < request.expiresAt
    const decision = answer.state === 'pending' ? 'unknown' : 'decided'
    switch (kind) {
      case 'start': {
        const expected = started[d] === true ? 'code-taken' : 'started'
        started[d] = true
        return { expected, actual: await perform(node, 'startDevice', device) }
      }
      case 'connect': {
        const isFree = started[d] === true && connected[d] === undefined && now < device.expiresAt
        if (isFree) connected[d] = b
        const expected = connected[d] === undefined ? 'unknown' : connected[d] === b ? 'connected' : 'taken'
        const connection = { id: device.id, authorizationId: request.id, now }
        return { expected, actual: await perform(node, 'connectDevice', connection) }
      }
      case 'approve': {
        const codeExpiresAt = (now + CODE_MS) as EpochMs
        const approval = anApproval(request, { userId: user.id, now, codeExpiresAt, remember: undefined })
        if (isPending) {
          approvals.set(request.id, approval)
          Object.assign(answer, { state: 'approved', codeEndsAt: codeExpiresAt })
        }
        const actual = await perform(node, 'approveAuthorization', approval)
        return { expected: isPending ? 'approved' : decision, actual }
      }
      case 'deny': {
        if (isPending) answer.state = 'denied'
        const actual = await perform(node, 'denyAuthorization', { id: request.id, now })
        return { expected: isPending ? 'denied' : decision, actual }
      }
      case 'poll':
        return { expected: expectPoll(d), actual: await poll(node, d) }
      case 'remove the app': {
        const ended = answers.flat().filter(({ state }) => state === 'redeemed').length
        for (const one of answers.flat()) if (one.state === 'redeemed' || one.state === 'approved') one.state = 'over'
        const removal = { userId: user.id, clientId, organizationId: undefined, now, codesSince: at(-MINUTE) }
        return { expected: ended, actual: (await perform(node, 'removeApp', removal)).grants }
      }
      case 'disable the user':
        isDisabled = true
        return { expected: 'changed', actual: await perform(store, 'disableUser', { id: user.id, now }) }
      case 'wait':
        now = (now + (b === 0 ? CODE_MS : 10 * MINUTE)) as EpochMs
        return { expected: '', actual: '' }
    }
  }

  /** What the model says of a poll, which uses the code up, or ends the tokens of one that was used. */
  function expectPoll(d: number): string {
    const [device, browser] = [devices[d], connected[d]]
    const answer = browser === undefined ? undefined : answers[d]?.[browser]
    if (device === undefined || started[d] !== true) return 'unknown'
    if (answer === undefined || answer.state === 'pending') return now < device.expiresAt ? 'pending' : 'expired'
    if (answer.state === 'denied') return 'denied'
    if (isDisabled) return 'refused'
    if (answer.state === 'redeemed') {
      answer.state = 'over'
      return 'replayed'
    }
    if (answer.state === 'over') return 'over'
    if (now >= answer.codeEndsAt) return 'over'
    answer.state = 'redeemed'
    return 'redeemed'
  }

  /** Polls as the token endpoint does, and reads with each node. */
  async function poll(node: StoreDriver, d: number): Promise<string> {
    const device = devices[d] && (await node.findDevice(devices[d].id))
    if (device === undefined) return 'unknown'
    const { authorizationId } = device
    const found = authorizationId === undefined ? undefined : await node.findAuthorization(authorizationId)
    if (found === undefined || found.status.kind === 'pending') return now < device.expiresAt ? 'pending' : 'expired'
    if (found.status.kind === 'denied') return 'denied'
    // Another node than the one that disabled the user may know it a second later.
    if ((await store.findUser(user.id))?.disabledAt !== undefined) return 'refused'
    const approval = approvals.get(found.id)
    assert.ok(approval)
    const grant = aGrant({ clientId, userId: user.id, family: undefined })
    const outcome = await perform(node, 'redeemCode', aRedemption(approval, { now, grant }))
    const stored = await node.findGrant(grantIdOf(found.id))
    assert.equal(stored !== undefined && stored.revokedAt === undefined, outcome === 'redeemed')
    return outcome === 'spent' || outcome === 'unknown' ? 'over' : outcome
  }

  /** The codes that the account page shows. */
  async function open(node: StoreDriver) {
    const asked = { userId: user.id, now, codesSince: at(-MINUTE), limit: 9 }
    const actual = new Set((await node.listOpenCodes(asked)).map(({ id }) => id))
    const isOpen = ({ state, codeEndsAt }: Answer) => state === 'approved' && now < codeEndsAt
    const all = requests.flat().filter((_, index) => isOpen(answers.flat()[index] as Answer))
    return { expected: new Set(all.map(({ id }) => id)), actual }
  }

  return { apply, open }
}
