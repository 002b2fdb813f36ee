import type { Language } from '../../src/base/language.ts'
import { IDENTITY_SCOPES } from '../../src/protocol/token/scope.ts'
import assert from 'node:assert/strict'
import { accountSamples } from './account-samples.ts'
import type {
  Branding,
  ClientView,
  ErrorProblem,
  Page,
  ReturnProblem,
  SignInPage,
  SignInProblem,
} from '../../src/ports/pages.ts'

export const branding: Branding = {
  name: 'Acme Cloud',
  accent: '#3b5bdb',
  contact: 'mailto:help@acme.test',
  termsUri: 'https://acme.test/terms',
  privacyUri: 'https://acme.test/privacy',
  logo: undefined,
}

export const languages: readonly Language[] = ['en', 'de']

const hidden = { authorization: 'az_4f9c', csrf: 'cs_81d2' }

export const cursor: ClientView = {
  name: 'Cursor',
  trust: { level: 'unverified' },
  ageSeconds: 180,
  documentHost: undefined,
  destination: { kind: 'this-computer', host: '127.0.0.1:43110' },
}

const verified: ClientView = {
  name: 'Build Board',
  trust: { level: 'verified' },
  ageSeconds: 8_000_000,
  documentHost: undefined,
  destination: { kind: 'host', host: 'board.example.com' },
}

const known: ClientView = {
  name: 'Claude',
  trust: { level: 'known-domain', host: 'claude.ai' },
  ageSeconds: 8_000_000,
  documentHost: 'claude.ai',
  destination: { kind: 'host', host: 'claude.ai' },
}

/** A client whose metadata document is on another host than its redirect URI. */
const described: ClientView = { ...cursor, name: 'Claude Code', documentHost: 'claude.ai' }

const app: ClientView = {
  name: undefined,
  trust: { level: 'unverified' },
  ageSeconds: 20,
  documentHost: undefined,
  destination: { kind: 'app', scheme: 'com.example.notes' },
}

const endless: ClientView = {
  name: 'W'.repeat(5000),
  trust: { level: 'unverified' },
  ageSeconds: 1e9,
  documentHost: undefined,
  destination: { kind: 'host', host: `${'long-label.'.repeat(22)}example:8443` },
}

const signIn = {
  kind: 'sign-in',
  hidden,
  client: cursor,
  isConfirmation: false,
  offers: [{ kind: 'password', action: '/sign-in', asksEmailFirst: false }],
  email: '',
  connecting: undefined,
  forgotUri: undefined,
  problem: undefined,
} as const

const stepUp = { action: '/step-up', isEnd: false, switchUri: '/sign-in' } as const

const secondStep = {
  kind: 'second-step',
  hidden,
  client: cursor,
  stepUp: undefined,
  offers: [
    { kind: 'code', action: '/sign-in/code' },
    { kind: 'recovery-code', action: '/sign-in/recovery-code' },
  ],
  problem: undefined,
} as const

const setUp = {
  kind: 'set-up',
  action: '/sign-in/app',
  hidden: { enrolment: 'sealed' },
  enrolment: {
    uri: `otpauth://totp/Acme:${'ada'.repeat(80)}%40acme.test?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Acme`,
    key: 'GEZD GNBV GY3T QOJQ GEZD GNBV GY3T QOJQ',
  },
} as const

const recoveryCodes = Array.from({ length: 10 }, (_, index) => `abcd-efgh-jkmn-pqr${index}`)

const passkeyStep = {
  kind: 'passkey',
  action: '/sign-in/second-passkey',
  ceremony: { kind: 'get', challenge: 'x', rpId: 'auth.example', credentials: ['eA'] },
} as const

const providers: SignInPage['offers'] = [
  { kind: 'provider', action: '/sign-in/provider', id: 'google', name: 'Google', mark: 'letter', isDown: false },
  {
    kind: 'provider',
    action: '/sign-in/provider',
    id: 'acme',
    name: 'Acme Entra '.repeat(5),
    mark: 'office',
    isDown: true,
  },
  { kind: 'provider', action: '/sign-in/provider', id: 'github', name: 'GitHub', mark: 'code', isDown: false },
  { kind: 'provider', action: '/sign-in/provider', id: 'staff', name: 'Staff', mark: 'key', isDown: false },
]

const consent = {
  kind: 'consent',
  action: '/consent',
  hidden,
  client: cursor,
  scopes: [
    { name: 'projects:read', sentences: ['Read your projects'], box: { name: 'allow.projects:read', isChecked: true } },
    {
      name: 'builds:start',
      sentences: ['Start builds in your name', 'Start and stop builds of everybody'],
      box: { name: 'allow.builds:start', isChecked: false },
    },
    { name: 'logs:read', sentences: [], box: undefined },
    { name: 'payments:write', sentences: ['Pay in your name'], box: 'withheld' },
  ],
  resources: [{ name: 'Builds API', identifier: 'https://builds.acme.test/mcp', isLimited: true }],
  account: { name: 'ada@acme.test', detail: undefined },
  organization: undefined,
  problem: undefined,
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

const signInProblems: readonly SignInProblem[] = [
  { kind: 'wrong-credentials' },
  { kind: 'email-missing' },
  { kind: 'password-missing' },
  { kind: 'second-step-expired' },
  { kind: 'password-too-long' },
  { kind: 'method-off' },
  { kind: 'account-refused' },
  { kind: 'application-refused' },
  { kind: 'not-answered' },
  { kind: 'provider-down', provider: 'Acme Entra' },
  { kind: 'provider-failed', provider: 'Acme Entra' },
  { kind: 'provider-not-fresh', provider: 'Acme Entra' },
  { kind: 'no-account', provider: 'Acme Entra', email: 'ada@acme.test' },
  { kind: 'identity-taken', provider: 'Acme Entra' },
  { kind: 'throttled', retryAfterSeconds: 30 },
  { kind: 'busy', retryAfterSeconds: 5 },
]

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
]

const notes = { reason: 'redirect_uri_not_registered', explanation: 'The redirect_uri is not one of the client.' }

const errorProblems: readonly ErrorProblem[] = [
  'client-unknown',
  'client-unidentified',
  'client-not-allowed',
  'redirect-missing',
  'redirect-unknown',
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
const forgot = { kind: 'forgot', action: '/forgot', backUri: '/sign-in', email: '', problem: undefined } as const

export const samples: ReadonlyMap<string, Page> = new Map<string, Page>([
  ['sign-in', signIn],
  ['sign-in for the account', { ...signIn, client: undefined }],
  ['sign-in to confirm', { ...signIn, client: undefined, isConfirmation: true, email: 'ada@acme.test' }],
  ['sign-in with mail', { ...signIn, forgotUri: '/forgot' }],
  ['forgot', forgot],
  ['forgot without an address', { ...forgot, email: 'a'.repeat(300), problem: 'email-missing' }],
  ['forgot done', { kind: 'forgot-done', backUri: '/sign-in' }],
  ['sign-in without a method', { ...signIn, offers: [] }],
  ['sign-in at the application', { ...signIn, offers: [{ kind: 'application', uri: '/leave?page=apps' }] }],
  ['sign-in with providers', { ...signIn, offers: [...providers, ...signIn.offers] }],
  ['sign-in with providers alone', { ...signIn, offers: providers }],
  [
    'sign-in with the address first',
    { ...signIn, offers: [...providers, { kind: 'password', action: '/sign-in', asksEmailFirst: true }] },
  ],
  ['sign-in to connect', { ...signIn, email: 'ada@acme.test', connecting: 'Acme Entra' }],
  [
    'sign-in without an address of the provider',
    { ...signIn, problem: { kind: 'no-account', provider: 'Acme Entra', email: undefined } },
  ],
  ['second step', secondStep],
  [
    'second step with a wrong code',
    { ...secondStep, client: undefined, problem: { kind: 'second-step-wrong', offer: 'code' } },
  ],
  [
    'second step with a wrong recovery code',
    { ...secondStep, problem: { kind: 'second-step-wrong', offer: 'recovery-code' } },
  ],
  ['step-up', { ...secondStep, stepUp }],
  ['step-up that is essential', { ...secondStep, stepUp: { ...stepUp, isEnd: true } }],
  ['second step that is locked', { ...secondStep, problem: { kind: 'second-step-locked' } }],
  ['second step by passkey', { ...secondStep, offers: [passkeyStep] }],
  [
    'second step by a passkey that did not work',
    {
      ...secondStep,
      offers: [...secondStep.offers, passkeyStep],
      problem: { kind: 'second-step-wrong', offer: 'passkey' },
    },
  ],
  ['second step without a way', { ...secondStep, offers: [] }],
  ['second step to set up', { ...secondStep, offers: [setUp] }],
  [
    'second step to set up with a wrong code',
    { ...secondStep, offers: [setUp], problem: { kind: 'second-step-wrong', offer: 'set-up' } },
  ],
  ['recovery codes', { kind: 'recovery-codes', action: '/sign-in/app/continue', hidden, codes: recoveryCodes }],
  ['leave', { kind: 'leave', provider: 'Acme Entra', uri: 'https://idp.example/authorize?client_id=x&state=y' }],
  ['sign-in for an app', { ...signIn, client: app }],
  ['sign-in for an endless name', { ...signIn, client: endless, email: `${'ada'.repeat(100)}@acme.test` }],
  ...signInProblems.map((problem): [string, Page] => [
    `sign-in ${problem.kind}`,
    { ...signIn, problem, email: problem.kind === 'email-missing' ? '' : 'ada@acme.test' },
  ]),
  ['consent', consent],
  ['consent known domain', { ...consent, client: known }],
  ['consent verified', { ...consent, client: verified, account: { name: 'Ada Lovelace', detail: 'ada@acme.test' } }],
  ['consent with a document', { ...consent, client: described }],
  ['consent too little', { ...consent, problem: 'scope-missing' }],
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
      account: { name: 'Ada '.repeat(60), detail: `${'ada'.repeat(60)}@acme.test` },
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
      account: { name: 'ada@acme.test', detail: undefined },
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
])

/** A sample by its name, with the type of the expected kind. */
export function sample<Kind extends Page['kind']>(name: string, kind: Kind): Extract<Page, { kind: Kind }> {
  const page = samples.get(name)
  assert.equal(page?.kind, kind)
  return page as Extract<Page, { kind: Kind }>
}
