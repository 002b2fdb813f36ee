import type { DeviceCodePage, DeviceCodeProblem } from '../../src/ports/pages/device.ts'
import type { ClientView, ConsentPage, Page } from '../../src/ports/pages/pages.ts'

/** A sample of each page of a device, and of every case that looks different. */

const hidden = { csrf: 'cs_81d2' }

const cli: ClientView = {
  name: 'Acme CLI',
  trust: { level: 'unverified' },
  ageSeconds: 8_000_000,
  documentHost: undefined,
  destination: { kind: 'device' },
}

const consent: ConsentPage = {
  kind: 'consent',
  nothing: undefined,
  action: '/consent',
  hidden,
  client: cli,
  scopes: [
    { name: 'projects:read', sentences: ['Read your projects'], box: { name: 'allow.projects:read', isChecked: true } },
    { name: 'logs:read', sentences: [], box: undefined },
  ],
  setUpUri: undefined,
  resources: [{ name: 'Builds API', identifier: 'https://builds.acme.test/mcp', isLimited: true }],
  account: { name: 'ada@acme.test', detail: undefined, isWithoutEmail: false },
  organization: undefined,
  problem: undefined,
  device: { userCode: 'BCDF-GHJK', askedSecondsAgo: 130, elsewhere: undefined },
  appsUri: '/account/apps',
  switchUri: '/switch?authorization=az_4f9c',
}

const elsewhere: ConsentPage = {
  ...consent,
  device: {
    userCode: 'BCDF-GHJK',
    askedSecondsAgo: 5,
    elsewhere: { network: '2001:db8:85a3:8d3::/64', box: 'own_device', isChecked: false },
  },
}

const typing: DeviceCodePage = { kind: 'device-code', action: '/device', hidden, problem: undefined }

const problems: readonly DeviceCodeProblem[] = [
  { kind: 'user-code-missing' },
  { kind: 'user-code-wrong' },
  { kind: 'throttled', retryAfterSeconds: 400 },
]

const notes = {
  error: 'access_denied',
  reason: 'organization_of_others',
  explanation: 'The user does not belong to it.',
}

export const deviceSamples: readonly (readonly [string, Page])[] = [
  ['device', typing],
  ...problems.map((problem) => [`device ${problem.kind}`, { ...typing, problem }] as const),
  ['device consent', consent],
  ['device consent nameless', { ...consent, client: { ...cli, name: undefined } }],
  ['device consent endless', { ...elsewhere, client: { ...cli, name: 'W'.repeat(5000) } }],
  ['device consent that authenticates', { ...consent, client: { ...cli, trust: { level: 'verified' } } }],
  ['device consent elsewhere', elsewhere],
  ['device consent unconfirmed', { ...elsewhere, problem: 'device-unconfirmed' }],
  ['device connected', { kind: 'device-end', end: { kind: 'connected', appsUri: '/account/apps' } }],
  ['device denied', { kind: 'device-end', end: { kind: 'denied' } }],
  ['device refused', { kind: 'device-end', end: { kind: 'refused', problem: 'access_denied', notes } }],
]
