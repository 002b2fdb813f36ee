import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ServerDocument } from '../../src/admin/server.ts'
import { requireTask } from '../../src/admin/tasks.ts'
import { after, type EpochMs } from '../../src/base/brand.ts'
import { checkOwnApis } from '../../src/checks/issuer.ts'
import type { Finding } from '../../src/checks/finding.ts'
import { checkMail } from '../../src/checks/mail.ts'
import { checkFailures } from '../../src/checks/providers.ts'
import { checkRoles } from '../../src/checks/roles.ts'
import { checkBackup } from '../../src/checks/store.ts'
import { findScreen } from '../../src/console/engine/open-screen.ts'
import { NO_PARAMETERS } from '../../src/base/message.ts'
import type { ProviderId } from '../../src/protocol/sign-in/authentication.ts'
import { addProvider } from '../support/provider/providers.ts'
import { NOW } from '../support/records.ts'
import { perform } from '../support/tasks.ts'
import { openOffice } from './office.ts'

/** What a running server finds of itself, and where a person at the console mends it. */

const DAY_MS = 24 * 60 * 60 * 1000

/** Why what a check finds has no screen that mends it. */
const WITHOUT_SCREEN: Readonly<Record<string, string>> = {
  backup: 'A backup is made by a command on the machine of the server.',
  mail: 'No node sends: another one has to be started, with the same settings.',
  'roles disabled': 'No user can open the console while its client is disabled.',
}

const FAILING = { id: 'acme' as ProviderId, name: 'Acme', count: 3, reasons: ['unreachable'], isDown: false }

type Shown = Pick<Finding, 'check' | 'verdict' | 'message' | 'remedy'> &
  Pick<ServerDocument['findings'][number], 'screen'>

function shownOf(findings: readonly Finding[]): readonly Shown[] {
  return findings.map((one) => ({ ...one, screen: one.screen ?? null }))
}

test('each finding of a running server has a screen of the console with a form or a page that is there, or a reason', async (t) => {
  const { stage, perform: order } = await openOffice(t)
  const { context } = stage.server
  await order('admin.create', { name: 'Nightly export', access: 'read', days: 1 })
  const { clockCheck } = context
  const ahead = { ...context, clockCheck: { ...clockCheck, differenceMs: () => 5000 } }
  const { findings } = await perform<ServerDocument>(ahead, 'server.show', {})
  const choices = { isLoopbackIssuer: false, delegate: undefined }
  const role = { user: 'ada@acme.test', access: 'write', isLoopbackOnly: false, hasSecondFactor: false } as const
  const roles = { roles: [role], providers: [], consoleDisabledAt: undefined }
  const delegate = { url: 'https://app.acme.test' } as never
  const all: readonly (readonly [name: string, findings: readonly Shown[]])[] = [
    ['served', findings as readonly Shown[]],
    ['backup', shownOf(checkBackup({ choices, now: NOW }, { backedUpAt: undefined }))],
    ['backup', shownOf(checkBackup({ choices, now: NOW }, { backedUpAt: after(NOW, -3 * DAY_MS) }))],
    ['mail', shownOf(checkMail(undefined, after(NOW, -DAY_MS), NOW))],
    ['roles', shownOf(checkRoles(choices, roles))],
    ['roles', shownOf(checkRoles({ ...choices, delegate }, roles))],
    ['roles disabled', shownOf(checkRoles(choices, { ...roles, consoleDisabledAt: NOW }))],
    ['provider', shownOf([checkFailures(FAILING), checkFailures({ ...FAILING, isDown: true })])],
    ['apis', shownOf(checkOwnApis({ issuer: 'https://a.test' }, ['https://a.test']))],
  ]
  const open = all.flatMap(([name, found]) =>
    found.filter(({ verdict }) => verdict !== 'ok').map((one) => [name, one] as const),
  )
  assert.deepEqual([...new Set(open.map(([, { check }]) => check))].toSorted(), [
    'apis',
    'backup',
    'clock',
    'credentials',
    'mail',
    'provider',
    'roles',
  ])
  for (const [name, { screen, message }] of open) {
    assert.equal(screen === null, WITHOUT_SCREEN[name] !== undefined, message)
    if (screen === null) continue
    const [path = '', query = ''] = screen.path.split('?', 2)
    const found = findScreen({ path, query: NO_PARAMETERS }) ?? assert.fail(screen.path)
    const ask = new URLSearchParams(query).get('ask')
    assert.ok(ask === null || found.screen.forms.some(({ task }) => task === requireTask(ask).name), screen.path)
  }
})

test('credentials that expire soon expire on a day of the calendar, and never in 0 days', async (t) => {
  const { stage, perform: order } = await openOffice(t)
  await order('admin.create', { name: 'Nightly export', access: 'read', days: 3 })
  const at = stage.server.context.clock() + 3 * DAY_MS
  const says = async (now: number): Promise<string | undefined> => {
    const server = { ...stage.server.context, clock: () => now as EpochMs }
    const { findings } = await perform<ServerDocument>(server, 'server.show', {})
    return findings
      .find(({ check }) => check === 'credentials')
      ?.message.replace('The credentials "Nightly export" expire ', '')
  }
  const [day, time] = new Date(at).toISOString().slice(0, 16).split('T')
  assert.deepEqual(
    [await says(at - 1000), await says(at - DAY_MS), await says(at - 2.5 * DAY_MS)],
    [
      `today at ${time} UTC.`,
      `tomorrow at ${time} UTC.`,
      `in ${daysBetween(at - 2.5 * DAY_MS, at)} days, on ${day} at ${time} UTC.`,
    ],
  )
})

test('of more than three credentials that expire soon one finding names the first, so that it hides no other', async (t) => {
  const { stage, perform: order } = await openOffice(t)
  for (const days of [4, 2, 3, 5]) await order('admin.create', { name: `In ${days} days`, access: 'read', days })
  const { findings } = await perform<ServerDocument>(stage.server.context, 'server.show', {})
  const found = findings.filter(({ check }) => check === 'credentials')
  assert.equal(found.length, 1)
  assert.match(
    found[0]?.message ?? '',
    /^4 credentials expire within two weeks, the first of them, "In 2 days", in 2 days,/,
  )
  assert.equal(found[0]?.screen?.path, '/console/credentials')
})

function daysBetween(from: number, to: number): number {
  return Math.floor(to / DAY_MS) - Math.floor(from / DAY_MS)
}

test('a provider without acceptable answers is a finding until a user signs in there, it is disabled, or 15 minutes pass', async (t) => {
  const { stage, perform: order } = await openOffice(t)
  const { context, clock } = stage.server
  const { id } = await addProvider(stage.server, { issuer: 'https://idp.test' })
  const record = (event: 'provider.failed' | 'session.started', more: Readonly<Record<string, string | number>>) =>
    context.store.recordEvent({ event, details: { provider: id, ...more } })
  const says = async (isDown = false): Promise<readonly string[]> => {
    const providerSignIn = { ...context.providerSignIn, isDown: () => isDown }
    const { findings } = await perform<ServerDocument>({ ...context, providerSignIn }, 'server.show', {})
    return findings.flatMap(({ check, verdict, message }) => (check === 'provider' ? [`${verdict}: ${message}`] : []))
  }
  const failing = (often: string) => [
    `warning: Acme ID (idp) gave no acceptable answer ${often}, and has signed in no user since.`,
  ]
  assert.deepEqual(await says(true), [], 'Only a provider that failed is asked about.')
  await record('provider.failed', { reason: 'unreachable' })
  assert.deepEqual(await says(), failing('once in the last 15 minutes (unreachable)'))
  await record('provider.failed', { reason: 'invalid', again: 2, minute: clock.now() })
  assert.deepEqual(await says(), failing('3 times in the last 15 minutes (invalid, unreachable)'))
  assert.deepEqual(await says(true), ['failed: Users cannot sign in at Acme ID (idp), because it does not answer.'])
  clock.advance(1000)
  await record('session.started', { methods: 'fed', provider: 'another' })
  assert.equal((await says()).length, 1)
  await record('session.started', { methods: 'fed' })
  assert.deepEqual(await says(), [])
  clock.advance(1000)
  await record('provider.failed', { reason: 'rejected' })
  assert.equal((await says()).length, 1)
  await order('provider.disable', { provider_id: id })
  assert.deepEqual(await says(), [])
  await order('provider.enable', { provider_id: id })
  clock.advance(16 * 60_000)
  assert.deepEqual(await says(), [])
})
