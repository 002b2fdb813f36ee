import type { Page, SignInPage, SignInProblem } from '../../src/ports/pages/pages.ts'
import { app, cursor, endless, hidden } from './client-samples.ts'

/** A sample of the pages of a sign-in, and of every case that looks different. */

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

const stepUp = { scopes: [], action: '/step-up', addsFactor: false, isEnd: false, switchUri: '/sign-in' } as const

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
  signal: undefined,
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

const newPasskey = {
  kind: 'passkey',
  action: '/sign-in/new-passkey',
  ceremony: {
    kind: 'create',
    challenge: 'x',
    rpId: 'auth.example',
    credentials: [],
    user: { id: 'gus_1', name: 'ada@acme.test', displayName: 'Ada' },
  },
} as const

const passkeySignIn = {
  kind: 'passkey',
  action: '/sign-in/passkey',
  ceremony: { kind: 'get', challenge: 'x', rpId: 'auth.example', credentials: [] },
} as const

const strongProvider = {
  kind: 'provider',
  action: '/sign-in/provider',
  id: 'google',
  name: 'Google',
  mark: 'letter',
  offered: 'x',
  isDown: false,
} as const

const providers: SignInPage['offers'] = [
  strongProvider,
  {
    kind: 'provider',
    action: '/sign-in/provider',
    id: 'acme',
    name: 'Acme Entra '.repeat(5),
    mark: 'office',
    offered: 'x',
    isDown: true,
  },
  {
    kind: 'provider',
    action: '/sign-in/provider',
    id: 'github',
    name: 'GitHub',
    mark: 'code',
    offered: 'x',
    isDown: false,
  },
  {
    kind: 'provider',
    action: '/sign-in/provider',
    id: 'staff',
    name: 'Staff',
    mark: 'key',
    offered: 'x',
    isDown: false,
  },
]

const signInProblems: readonly SignInProblem[] = [
  { kind: 'wrong-credentials' },
  { kind: 'email-missing' },
  { kind: 'password-missing' },
  { kind: 'passkey-invalid' },
  { kind: 'second-step-expired' },
  { kind: 'password-too-long' },
  { kind: 'method-off' },
  { kind: 'account-refused' },
  { kind: 'application-refused' },
  { kind: 'not-answered' },
  { kind: 'provider-off', provider: 'Acme Entra' },
  { kind: 'provider-down', provider: 'Acme Entra', isRequired: false },
  { kind: 'provider-failed', provider: 'Acme Entra', isRequired: true },
  { kind: 'provider-not-fresh', provider: 'Acme Entra' },
  { kind: 'no-account', provider: 'Acme Entra', email: 'ada@acme.test' },
  { kind: 'identity-taken', provider: 'Acme Entra' },
  { kind: 'throttled', retryAfterSeconds: 30 },
  { kind: 'busy', retryAfterSeconds: 5 },
]

const forgot = { kind: 'forgot', action: '/forgot', backUri: '/sign-in', email: '', problem: undefined } as const

export const signInSamples: readonly (readonly [string, Page])[] = [
  ['sign-in', signIn],
  ['sign-in for the account', { ...signIn, client: undefined }],
  ['sign-in again', { ...signIn, isConfirmation: true, email: 'ada@acme.test' }],
  ['sign-in to confirm', { ...signIn, client: undefined, isConfirmation: true, email: 'ada@acme.test' }],
  ['sign-in with mail', { ...signIn, forgotUri: '/forgot' }],
  ['forgot', forgot],
  ['forgot without an address', { ...forgot, email: 'a'.repeat(300), problem: 'email-missing' }],
  ['forgot done', { kind: 'forgot-done', provider: undefined, isOff: false, backUri: '/sign-in' }],
  ['forgot at a provider', { kind: 'forgot-done', provider: 'Acme Entra', isOff: false, backUri: '/sign-in' }],
  ['forgot at a disabled provider', { kind: 'forgot-done', provider: 'Acme Entra', isOff: true, backUri: '/sign-in' }],
  ['sign-in without a method', { ...signIn, offers: [] }],
  ['sign-in at the application', { ...signIn, offers: [{ kind: 'application', uri: '/leave?page=apps' }] }],
  ['sign-in with providers', { ...signIn, offers: [...providers, ...signIn.offers] }],
  ['sign-in with providers alone', { ...signIn, offers: providers }],
  [
    'sign-in with the address first',
    { ...signIn, offers: [...providers, { kind: 'password', action: '/sign-in', asksEmailFirst: true }] },
  ],
  ['sign-in with a passkey', { ...signIn, offers: [passkeySignIn, ...signIn.offers] }],
  ['sign-in with a passkey alone', { ...signIn, forgotUri: '/forgot', offers: [passkeySignIn] }],
  [
    'sign-in with everything',
    { ...signIn, forgotUri: '/forgot', offers: [...providers, passkeySignIn, ...signIn.offers] },
  ],
  [
    'sign-in passkey-unknown',
    {
      ...signIn,
      offers: [passkeySignIn, ...signIn.offers],
      problem: { kind: 'passkey-unknown' },
    },
  ],
  ['sign-in to connect', { ...signIn, email: 'ada@acme.test', connecting: { name: 'Acme Entra', isRequired: false } }],
  [
    'sign-in to connect the only way',
    { ...signIn, email: 'ada@acme.test', connecting: { name: 'Acme Entra', isRequired: true } },
  ],
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
  [
    'step-up for permissions',
    {
      ...secondStep,
      offers: [...secondStep.offers, passkeyStep],
      stepUp: {
        ...stepUp,
        scopes: [
          { name: 'payments:write', sentences: ['Pay', 'Donaudampfschifffahrtsgesellschaft'.repeat(3)] },
          { name: 'keys:write', sentences: [] },
        ],
      },
    },
  ],
  ['step-up that is essential', { ...secondStep, stepUp: { ...stepUp, isEnd: true } }],
  ['second step that is locked', { ...secondStep, problem: { kind: 'second-step-locked' } }],
  ['second step by passkey', { ...secondStep, offers: [passkeyStep] }],
  ['second step at a provider', { ...secondStep, offers: [strongProvider] }],
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
    'second step to set up for permissions',
    { ...secondStep, offers: [setUp], stepUp: { ...stepUp, addsFactor: true } },
  ],
  [
    'second step to set up with a wrong code',
    { ...secondStep, offers: [setUp], problem: { kind: 'second-step-wrong', offer: 'set-up' } },
  ],
  ['second step to set up by a passkey or an app', { ...secondStep, offers: [newPasskey, setUp] }],
  [
    'second step to set up by a passkey that did not work',
    {
      ...secondStep,
      offers: [newPasskey, setUp],
      problem: { kind: 'second-step-wrong', offer: 'passkey' },
    },
  ],
  ['recovery codes', { kind: 'recovery-codes', action: '/sign-in/app/continue', hidden, codes: recoveryCodes }],
  ['leave', { kind: 'leave', provider: 'Acme Entra', uri: 'https://idp.example/authorize?client_id=x&state=y' }],
  ['sign-in for an app', { ...signIn, client: app }],
  ['sign-in for an endless name', { ...signIn, client: endless, email: `${'ada'.repeat(100)}@acme.test` }],
  ...signInProblems.map((problem): [string, Page] => [
    `sign-in ${problem.kind}`,
    { ...signIn, problem, email: problem.kind === 'email-missing' ? '' : 'ada@acme.test' },
  ]),
]
