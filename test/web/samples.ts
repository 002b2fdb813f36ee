import type { Language } from '../../src/base/language.ts'
import { IDENTITY_SCOPES } from '../../src/protocol/token/scope.ts'
import assert from 'node:assert/strict'
import { accountSamples } from './account-samples.ts'
import { app, cursor, described, endless, hidden, known, verified } from './client-samples.ts'
import { deviceSamples } from './device-samples.ts'
import { signInSamples } from './sign-in-samples.ts'
import type { Branding, ErrorProblem, Page, ReturnProblem } from '../../src/ports/pages/pages.ts'

export const branding: Branding = {
  name: 'Acme Cloud',
  accent: '#3b5bdb',
  contact: 'mailto:help@acme.test',
  termsUri: 'https://acme.test/terms',
  privacyUri: 'https://acme.test/privacy',
  productUri: undefined,
  logo: undefined,
  texts: {},
}

/** The languages that have all texts. */
export const languages: readonly Language[] = ['en', 'de', 'es', 'fr']

const consent = {
  kind: 'consent',
  nothing: undefined,
  action: '/consent',
  hidden,
  client: cursor,
  scopes: [
    {
      name: 'projects:read',
      sentences: [{ en: 'Read your projects', de: 'Ihre Projekte lesen' }],
      box: { name: 'allow.projects:read', isChecked: true },
    },
    {
      name: 'builds:start',
      sentences: ['Start builds in your name', { de: 'Alle Builds starten und anhalten' }],
      box: { name: 'allow.builds:start', isChecked: false },
    },
    { name: 'logs:read', sentences: [], box: undefined },
    { name: 'payments:write', sentences: ['Pay in your name'], box: 'withheld' },
    { name: 'payments:read', sentences: [], box: 'declined' },
  ],
  setUpUri: '/step-up/set-up?authorization=az_4f9c',
  resources: [{ name: { en: 'Builds API' }, identifier: 'https://builds.acme.test/mcp', isLimited: true }],
  account: { name: 'ada@acme.test', detail: undefined, isWithoutEmail: false },
  organization: undefined,
  problem: undefined,
  device: undefined,
  appsUri: '/account/apps',
  switchUri: '/switch?authorization=az_4f9c',
} as const

const organizations = [
  { value: 'gor_1', name: 'Acme' },
  { value: 'gor_2', name: 'Beta '.repeat(30) },
  { value: 'none', name: undefined },
]

const choice = { kind: 'choice', options: organizations, selected: undefined } as const

const returned = {
  kind: 'return',
  problem: 'invalid_scope',
  notes: {
    error: 'invalid_scope',
    reason: 'scope_not_allowed',
    explanation: 'The client gets no scope for https://api.example.com: notes:write (not declared).',
  },
  client: { ...cursor, destination: { kind: 'host', host: 'app.example.com' } },
  back: { kind: 'link', uri: 'https://app.example.com/callback?error=invalid_scope&state=x' },
} as const

const returnProblems: readonly ReturnProblem[] = [
  'invalid_request',
  'invalid_scope',
  'invalid_target',
  'access_denied',
  'unsupported_response_type',
  'request_not_supported',
  'request_uri_not_supported',
  'unauthorized_client',
  'login_required',
  'consent_required',
  'interaction_required',
  'temporarily_unavailable',
  'registration_not_supported',
  'unmet_authentication_requirements',
]

const notes = { reason: 'redirect_uri_not_registered', explanation: 'The redirect_uri is not one of the client.' }

const errorProblems: readonly ErrorProblem[] = [
  'client-unknown',
  'client-unidentified',
  'client-not-allowed',
  'redirect-missing',
  'redirect-unknown',
  'redirect-not-allowed',
  'request-malformed',
  'expired',
  'link-invalid',
  'provider-failed',
  'identity-taken',
  'other-browser',
  'already-completed',
  'user-changed',
  'forged',
  'too-many-requests',
  'not-found',
  'home',
  'unavailable',
  'sign-in-failed',
  'server-error',
]

/** A sample of every page and of every case that looks different, by a name for test titles and screenshots. */
export const samples: ReadonlyMap<string, Page> = new Map<string, Page>([
  ...signInSamples,
  ['consent', consent],
  ['consent known domain', { ...consent, client: known }],
  [
    'consent verified',
    { ...consent, client: verified, account: { name: 'Ada Lovelace', detail: 'ada@acme.test', isWithoutEmail: false } },
  ],
  ['consent with a document', { ...consent, client: described }],
  ['consent too little', { ...consent, problem: 'scope-missing' }],
  [
    'consent with a rule',
    {
      ...consent,
      scopes: ['<b>"Finance"</b>', undefined].map((sentence) => ({
        name: `pay-${sentence?.length}`,
        sentences: ['Pay'],
        box: { kind: 'ruled', sentence },
      })),
    },
  ],
  [
    'consent without access',
    {
      ...consent,
      nothing: ['Finance: <i>finance-it@acme.test</i>'],
      scopes: [{ name: 'pay', sentences: ['Pay'], box: { kind: 'ruled', sentence: undefined } }],
    },
  ],
  ['consent bare', { ...consent, client: app, scopes: [], resources: [] }],
  [
    'consent without limits',
    { ...consent, scopes: [], resources: [{ name: 'Builds', identifier: 'https://b.test', isLimited: false }] },
  ],
  [
    'consent endless',
    {
      ...consent,
      client: endless,
      scopes: [
        { name: 's'.repeat(400), sentences: [], box: undefined },
        {
          name: 'long',
          sentences: ['Donaudampfschifffahrtsgesellschaft'.repeat(6)],
          box: { name: 'allow.long', isChecked: true },
        },
      ],
      resources: [
        { name: undefined, identifier: `https://api.example/${'path/'.repeat(40)}`, isLimited: false },
        { name: 'N'.repeat(300), identifier: 'https://second.example', isLimited: true },
      ],
      account: { name: 'Ada '.repeat(60), detail: `${'ada'.repeat(60)}@acme.test`, isWithoutEmail: false },
    },
  ],
  [
    'consent to sign in',
    {
      ...consent,
      scopes: IDENTITY_SCOPES.map((name) => ({
        name,
        sentences: [''],
        box: name === 'openid' ? undefined : { name: `allow.${name}`, isChecked: true },
      })),
    },
  ],
  ['consent for an organization', { ...consent, organization: { kind: 'fixed', name: 'Acme' } }],
  ['consent of a member', { ...consent, organization: { ...choice, selected: 'gor_1' } }],
  ['consent of a member of several', { ...consent, organization: choice }],
  ['consent organization-missing', { ...consent, organization: choice, problem: 'organization-missing' }],
  ['consent organization-gone', { ...consent, problem: 'organization-gone' }],
  ...returnProblems.map((problem): [string, Page] => [`return ${problem}`, { ...returned, problem }]),
  [
    'return to this computer',
    { ...returned, client: cursor, back: { kind: 'link', uri: 'http://127.0.0.1:43110/?error=x' } },
  ],
  ['return to an app', { ...returned, client: app, back: { kind: 'link', uri: 'com.example.notes:/cb?error=x' } }],
  [
    'return by a form',
    { ...returned, back: { kind: 'form', action: 'https://app.example.com/callback', fields: { error: 'x"y' } } },
  ],
  [
    'form post',
    { kind: 'form-post', action: 'https://app.example.com/callback', fields: { code: 'c', state: '"></form>' } },
  ],
  ['return endless', { ...returned, client: endless }],
  ...errorProblems.map((problem): [string, Page] => [
    `error ${problem}`,
    { kind: 'error', problem, notes: problem === 'home' ? undefined : notes },
  ]),
  [
    'error of an old link',
    {
      kind: 'error',
      problem: 'link-invalid',
      notes,
      accountUri: '/account',
      newLinkUri: '/forgot',
      product: { uri: 'https://board.example/login', name: 'Build Board' },
    },
  ],
  [
    'error with a redirect URI',
    {
      kind: 'error',
      problem: 'redirect-unknown',
      notes: { ...notes, redirectUri: `https://app.example/<script>/${'path/'.repeat(34)}`.slice(0, 200) },
    },
  ],
  [
    'sign-out',
    {
      kind: 'sign-out',
      action: '/sign-out',
      hidden: { csrf: 'cs_81d2' },
      account: { name: 'ada@acme.test', detail: undefined, isWithoutEmail: false },
    },
  ],
  [
    'sign-out without a session',
    { kind: 'sign-out', action: '/sign-out', hidden: { csrf: 'cs_81d2' }, account: undefined },
  ],
  ['signed-out', { kind: 'signed-out', back: undefined }],
  [
    'signed-out of an app',
    {
      kind: 'signed-out',
      back: { uri: 'https://app.example.com/out', destination: { kind: 'host', host: 'app.example.com' } },
    },
  ],
  ...accountSamples,
  ...deviceSamples,
])

/** A sample by its name, with the type of the expected kind. */
export function sample<Kind extends Page['kind']>(name: string, kind: Kind): Extract<Page, { kind: Kind }> {
  const page = samples.get(name)
  assert.equal(page?.kind, kind)
  return page as Extract<Page, { kind: Kind }>
}
