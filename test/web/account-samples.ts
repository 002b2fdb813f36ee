import {
  ACCOUNT_NOTICES,
  type AccountFrame,
  type AccountPage,
  type ConnectedApp,
  type PasswordProblem,
  type SessionView,
} from '../../src/ports/pages/account.ts'
import type { LinkAccountPage } from '../../src/ports/pages/link.ts'
import type { EpochMs } from '../../src/base/brand.ts'
import { aCeremony, linkSamples } from './link-samples.ts'

/** A sample of every account page, and of every case that looks different. */

const frame: AccountFrame = {
  account: { name: 'Ada Lovelace', detail: 'ada@acme.test', isWithoutEmail: false },
  pages: {
    overview: '/account',
    'change-email': '/account/email',
    'confirm-email': '/account/email/confirm',
    apps: '/account/apps',
    sessions: '/account/sessions',
    security: '/account/security',
    data: '/account/data',
    'remove-app': '/account/apps/remove',
    password: '/account/security/password',
    'remove-password': '/account/security/remove-password',
    'add-provider': '/account/security/add-provider',
    'remove-provider': '/account/security/remove-provider',
    'add-passkey': '/account/security/add-passkey',
    'remove-passkey': '/account/security/remove-passkey',
    'set-up-app': '/account/security/app',
    'recovery-codes': '/account/security/recovery-codes',
    'remove-two-step': '/account/security/remove-two-step',
  },
  consoleUri: '/console',
  signOutUri: '/sign-out',
  csrf: 'cs_81d2',
  notice: undefined,
}

const app: ConnectedApp = {
  hidden: { client: 'gci_1', organization: 'gor_1' },
  removeUri: '/account/apps/remove?client=gci_1&organization=gor_1',
  name: 'Cursor',
  trust: { level: 'unverified' },
  documentHost: undefined,
  destination: { kind: 'this-computer', host: '127.0.0.1:43110' },
  organization: 'Acme',
  assertedBy: undefined,
  isConsentImplied: false,
  identity: ['openid', 'profile', 'email'],
  permissions: [{ en: 'Read your projects' }, 'builds:start'],
  withheld: [],
  resources: [{ default: 'Projects', de: 'Projekte' }, 'https://builds.acme.test/mcp'],
  allowedSecondsAgo: 8_000_000,
  access: { kind: 'tokens', isPaused: false, usedSecondsAgo: 100, endsAt: 1_780_000_000_000 as EpochMs },
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
    access: { kind: 'tokens', isPaused: true, usedSecondsAgo: 1, endsAt: 1_780_000_000_000 as EpochMs },
  },
  {
    ...app,
    name: 'Notes',
    assertedBy: 'Acme ID',
    trust: { level: 'known-domain', host: 'notes.example' },
    destination: undefined,
    access: { kind: 'remembered' },
  },
  {
    ...app,
    name: long,
    permissions: [long],
    withheld: [
      { identity: 'email', permissions: [], sentence: undefined },
      { identity: undefined, permissions: [long, 'builds:start'], sentence: long },
    ],
    resources: [long],
    organization: long,
    hidden: { client: 'gci_2' },
    documentHost: 'editor.example',
    access: { kind: 'device-waits' },
  },
]

const session: SessionView = {
  hidden: { session: '01a200f2d7f1' },
  agent: { browser: 'Firefox', system: 'Linux' },
  methods: ['pwd'],
  provider: undefined,
  network: { kind: 'network', name: '2001:db8:1234:5678::/64' },
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
  isNameEditable: true,
  email: { address: 'ada@acme.test', isVerified: true },
  isEmailEditable: true,
  organizations: ['Acme', 'Beta '.repeat(30)],
  problem: undefined,
} as const

const changeEmail = {
  kind: 'account-change-email',
  frame,
  email: 'ada@new.test',
  hasEmail: true,
  problem: undefined,
} as const
const confirmEmail = { kind: 'account-confirm-email', frame, email: 'ada@new.test', problem: undefined } as const

const security = {
  kind: 'account-security',
  twoStep: { kind: 'on', sinceSecondsAgo: 90_000, recoveryCodes: 1, isRemovable: true },
  forgotten: undefined,
  frame,
  methods: [{ kind: 'password', isSet: true, isRemovable: true }],
} as const

const setUpApp = {
  kind: 'account-set-up-app',
  frame,
  hidden: { enrolment: 'sealed' },
  enrolment: {
    uri: 'otpauth://totp/Acme:ada%40acme.test?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Acme',
    key: 'GEZD GNBV GY3T QOJQ GEZD GNBV GY3T QOJQ',
  },
  isReplacing: false,
  isWrong: false,
} as const

const password = {
  kind: 'account-password',
  frame,
  isSet: true,
  username: 'ada@acme.test',
  problem: undefined,
  shortestPassword: 15,
} as const

const aPasskeyView = {
  agent: { browser: 'Firefox', system: 'Linux' },
  isSynced: true,
  addedSecondsAgo: 100,
  usedSecondsAgo: undefined,
}

const identity = {
  name: 'Google',
  email: 'ada@acme.test',
  linkedSecondsAgo: 86_400 * 3,
  usedSecondsAgo: 30,
  isUsable: true,
} as const
const own = {
  ...identity,
  kind: 'identity',
  removal: { kind: 'open', uri: '/account/security/remove-provider' },
} as const

export const accountSamples: readonly (readonly [string, AccountPage | LinkAccountPage])[] = [
  ['account', overview],
  ['account change email', changeEmail],
  [
    'account change email of a provider',
    { ...changeEmail, hasEmail: false, email: long, problem: { kind: 'email-of-provider', provider: long } },
  ],
  ['account change email missing', { ...changeEmail, problem: { kind: 'email-missing' } }],
  ['account change email unchanged', { ...changeEmail, problem: { kind: 'email-unchanged' } }],
  ['account confirm email', confirmEmail],
  ['account confirm email wrong', { ...confirmEmail, email: long, problem: 'email-code-wrong' }],
  ['account confirm email void', { ...confirmEmail, email: undefined, problem: 'email-code-void' }],
  ['account confirm email taken', { ...confirmEmail, email: undefined, problem: 'email-taken' }],
  [
    'account bare',
    {
      ...overview,
      name: '',
      email: undefined,
      organizations: [],
      frame: { ...frame, account: { name: 'gus_1', detail: undefined, isWithoutEmail: true } },
    },
  ],
  ['account of an application', { ...overview, isEmailEditable: false, isNameEditable: false }],
  [
    'account name unusable',
    { ...overview, email: { address: 'ada@acme.test', isVerified: false }, problem: 'name-unusable' },
  ],
  ...ACCOUNT_NOTICES.map((notice): [string, AccountPage | LinkAccountPage] => [
    `account ${notice}`,
    { ...overview, frame: { ...frame, notice } },
  ]),
  ['account of an application', { ...overview, isNameEditable: false }],
  ['account of an application without a name', { ...overview, name: '', isNameEditable: false }],
  [
    'account confirm',
    {
      kind: 'account-confirm',
      frame,
      page: 'password',
      confirmUri: '/sign-in?page=password',
      lack: 'sign-in',
      isReplaceable: true,
    },
  ],
  ...(['passkey', 'identity'] as const).map((lack): [string, AccountPage] => [
    `account confirm by ${lack}`,
    {
      kind: 'account-confirm',
      frame,
      page: 'set-up-app',
      confirmUri: '/sign-in?page=set-up-app',
      lack,
      isReplaceable: lack === 'identity',
    },
  ]),
  ['account remove app', { kind: 'account-remove-app', frame, app }],
  [
    'account remove app endless',
    { kind: 'account-remove-app', frame, app: { ...app, name: long, permissions: [long] } },
  ],
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
        { ...session, methods: ['fed'], provider: 'Acme Entra', network: { kind: 'this-computer' } },
        { ...session, agent: undefined, network: undefined },
      ],
    },
  ],
  ['account security', security],
  [
    'account security without a password',
    { ...security, methods: [{ kind: 'password', isSet: false, isRemovable: false }] },
  ],
  ['account password', password],
  ['account remove password', { kind: 'account-remove-password', frame }],
  ['account password not set', { ...password, isSet: false }],
  ['account security without methods', { ...security, methods: [] }],
  [
    'account security with passkeys',
    {
      ...security,
      methods: [
        {
          kind: 'passkeys',
          passkeys: [
            { ...aPasskeyView, removal: { kind: 'open', uri: '/account/security/remove-passkey?passkey=id' } },
            { ...aPasskeyView, isSynced: false, usedSecondsAgo: 60, removal: { kind: 'last' } },
          ],
          canAdd: true,
        },
        ...security.methods,
      ],
      forgotten: { rpId: 'auth.example', credentialId: 'AAAA' },
    },
  ],
  [
    'account security with providers',
    {
      ...security,
      methods: [
        own,
        { ...own, name: 'Acme Entra', email: undefined, removal: { kind: 'last' } },
        { ...own, name: 'Acme Okta', removal: { kind: 'required' } },
        { kind: 'provider', id: 'github', name: 'GitHub' },
        ...security.methods,
      ],
    },
  ],
  [
    'account security with a provider to add',
    { ...security, methods: [{ kind: 'provider', id: 'github', name: 'GitHub' }] },
  ],
  ['account two-step off', { ...security, twoStep: { kind: 'off' } }],
  ['account two-step void', { ...security, twoStep: { kind: 'void' } }],
  ['account set up app', setUpApp],
  ['account replace app with a wrong code', { ...setUpApp, isReplacing: true, isWrong: true }],
  ['account new recovery codes', { kind: 'account-recovery-codes', frame, codes: undefined }],
  ['account recovery codes', { kind: 'account-recovery-codes', frame, codes: ['abcd-efgh-jkmn-pqrs'] }],
  ['account switch off two-step', { kind: 'account-remove-two-step', frame }],
  [
    'account add provider',
    { kind: 'account-add-provider', frame, providers: [{ id: 'github', name: 'GitHub', mark: 'code' }] },
  ],
  [
    'account add passkey',
    {
      kind: 'account-add-passkey',
      frame,
      ceremony: aCeremony,
      problem: 'passkey-invalid',
    },
  ],
  [
    'account remove passkey',
    { kind: 'account-remove-passkey', frame, passkey: aPasskeyView, hidden: { passkey: 'id' } },
  ],
  [
    'account remove provider that does not sign in',
    { kind: 'account-remove-provider', frame, identity: { ...identity, isUsable: false }, hidden: { identity: 'key' } },
  ],
  [
    'account remove provider without an address',
    {
      kind: 'account-remove-provider',
      frame,
      identity: { ...identity, email: undefined },
      hidden: { identity: 'key' },
    },
  ],
  ['account remove provider', { kind: 'account-remove-provider', frame, identity, hidden: { identity: 'key' } }],
  ...passwordProblems.map((problem): [string, AccountPage | LinkAccountPage] => [
    `account ${problem}`,
    { ...password, problem },
  ]),
  ['account data', { kind: 'account-data', frame }],
  ...linkSamples,
]
