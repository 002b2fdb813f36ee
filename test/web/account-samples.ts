import {
  ACCOUNT_NOTICES,
  type AccountFrame,
  type AccountPage,
  type ConnectedApp,
  type PasswordProblem,
  type SessionView,
} from '../../src/ports/account-pages.ts'
import type { EpochMs } from '../../src/base/brand.ts'

/** A sample of every account page, and of every case that looks different. */

const frame: AccountFrame = {
  account: { name: 'Ada Lovelace', detail: 'ada@acme.test' },
  pages: {
    overview: '/account',
    apps: '/account/apps',
    sessions: '/account/sessions',
    security: '/account/security',
    data: '/account/data',
  },
  signOutUri: '/sign-out',
  csrf: 'cs_81d2',
  notice: undefined,
}

const app: ConnectedApp = {
  hidden: { client: 'gci_1', organization: 'gor_1' },
  name: 'Cursor',
  trust: { level: 'unverified' },
  documentHost: undefined,
  destination: { kind: 'this-computer', host: '127.0.0.1:43110' },
  organization: 'Acme',
  identity: ['openid', 'profile', 'email'],
  permissions: ['Read your projects', 'builds:start'],
  resources: ['Projects', 'https://builds.acme.test/mcp'],
  allowedSecondsAgo: 8_000_000,
  access: { usedSecondsAgo: 100, endsAt: 1_780_000_000_000 as EpochMs },
}
const long = 'Donaudampfschifffahrtsgesellschaft'.repeat(6)
const apps: readonly ConnectedApp[] = [
  app,
  {
    ...app,
    name: undefined,
    trust: { level: 'verified' },
    organization: undefined,
    resources: [],
    access: { usedSecondsAgo: 1, endsAt: 1_780_000_000_000 as EpochMs },
  },
  {
    ...app,
    name: 'Notes',
    trust: { level: 'known-domain', host: 'notes.example' },
    destination: undefined,
    access: undefined,
  },
  {
    ...app,
    name: long,
    permissions: [long],
    resources: [long],
    organization: long,
    hidden: { client: 'gci_2' },
    documentHost: 'editor.example',
  },
]

const session: SessionView = {
  hidden: { session: '01a200f2d7f1' },
  agent: { browser: 'Firefox', system: 'Linux' },
  methods: ['pwd'],
  network: '2001:db8:1234:5678::/64',
  startedSecondsAgo: 7200,
  seenSecondsAgo: 600,
}

const passwordProblems: readonly PasswordProblem[] = [
  'password-too-short',
  'password-too-long',
  'password-common',
  'passwords-differ',
]

const overview = {
  kind: 'account-overview',
  frame,
  name: 'Ada Lovelace',
  email: { address: 'ada@acme.test', isVerified: true },
  organizations: ['Acme', 'Beta '.repeat(30)],
  problem: undefined,
} as const

const security = {
  kind: 'account-security',
  frame,
  methods: [{ kind: 'password', isSet: true, username: 'ada@acme.test' }],
  confirmUri: undefined,
  problem: undefined,
  shortestPassword: 15,
} as const

const identity = {
  kind: 'identity',
  name: 'Google',
  email: 'ada@acme.test',
  linkedSecondsAgo: 86_400 * 3,
  usedSecondsAgo: 30,
  hidden: { identity: 'key' },
} as const

const link = {
  kind: 'account-link',
  purpose: 'reset',
  action: '/account/link',
  hidden: { token: 'gln_x' },
  account: { name: 'ada@acme.test', detail: undefined },
  username: 'ada@acme.test',
  providers: [],
  problem: undefined,
  shortestPassword: 15,
} as const

export const accountSamples: readonly (readonly [string, AccountPage])[] = [
  ['account', overview],
  [
    'account bare',
    {
      ...overview,
      name: '',
      email: undefined,
      organizations: [],
      frame: { ...frame, account: { name: 'gus_1', detail: undefined } },
    },
  ],
  [
    'account name unusable',
    { ...overview, email: { address: 'ada@acme.test', isVerified: false }, problem: 'name-unusable' },
  ],
  ...ACCOUNT_NOTICES.map((notice): [string, AccountPage] => [
    `account ${notice}`,
    { ...overview, frame: { ...frame, notice } },
  ]),
  ['account apps', { kind: 'account-apps', frame, apps, isCut: true }],
  ['account apps none', { kind: 'account-apps', frame, apps: [], isCut: false }],
  [
    'account sessions',
    {
      kind: 'account-sessions',
      frame,
      sessions: [
        { ...session, hidden: undefined, seenSecondsAgo: 0 },
        { ...session, agent: { browser: 'Safari', system: undefined }, methods: ['fed'] },
        { ...session, agent: undefined, network: undefined },
      ],
    },
  ],
  ['account security', security],
  [
    'account security without a password',
    { ...security, methods: [{ kind: 'password', isSet: false, username: 'ada@acme.test' }] },
  ],
  ['account security confirm', { ...security, confirmUri: '/sign-in?page=security' }],
  ['account security without methods', { ...security, methods: [] }],
  [
    'account security with providers',
    {
      ...security,
      methods: [
        identity,
        { ...identity, name: 'Acme Entra', email: undefined, hidden: undefined },
        { kind: 'provider', name: 'GitHub', hidden: { provider: 'github' } },
        ...security.methods,
      ],
    },
  ],
  ['account link with providers', { ...link, providers: [{ id: 'google', name: 'Google' }] }],
  [
    'account link without a password',
    { ...link, purpose: 'invitation', username: undefined, providers: [{ id: 'google', name: 'Google' }] },
  ],
  ...passwordProblems.map((problem): [string, AccountPage] => [
    `account security ${problem}`,
    { ...security, problem },
  ]),
  ['account data', { kind: 'account-data', frame, confirmUri: undefined }],
  ['account data confirm', { kind: 'account-data', frame, confirmUri: '/sign-in?page=data' }],
  ['account link', link],
  [
    'account link methods',
    {
      kind: 'account-link-methods',
      action: '/account/link',
      hidden: link.hidden,
      account: link.account,
      methods: [
        { key: 'key', name: 'Google', email: 'ada@acme.test', linkedSecondsAgo: 86_400 * 3, usedSecondsAgo: 30 },
        { key: 'other', name: 'GitHub', email: undefined, linkedSecondsAgo: 60, usedSecondsAgo: 60 },
        { key: 'own', name: 'delegate', email: 'ada@acme.test', linkedSecondsAgo: 60, usedSecondsAgo: 60 },
      ].map((method) => ({ ...method, isOfApplication: method.key === 'own' })),
    },
  ],
  ['account link invitation', { ...link, purpose: 'invitation', problem: 'passwords-differ' }],
  ['account link used', { kind: 'account-link-used', accountUri: '/account' }],
]
