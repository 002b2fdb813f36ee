import type { LinkAccountPage } from '../../src/ports/pages/link.ts'

export const aCeremony = {
  kind: 'create',
  challenge: 'challenge',
  rpId: 'auth.example',
  credentials: ['AAAA'],
  user: { id: 'gus_1', name: 'ada@acme.test', displayName: 'Ada' },
} as const

const link = {
  kind: 'account-link',
  purpose: 'reset',
  organization: undefined,
  action: '/account/link',
  hidden: { token: 'gln_x' },
  account: { name: 'ada@acme.test', detail: undefined, isWithoutEmail: false },
  passkey: undefined,
  username: 'ada@acme.test',
  providers: [],
  problem: undefined,
  shortestPassword: 15,
} as const

export const linkSamples: readonly (readonly [string, LinkAccountPage])[] = [
  ['account link with providers', { ...link, providers: [{ id: 'google', name: 'Google', mark: 'letter' }] }],
  [
    'account link without a password',
    {
      ...link,
      purpose: 'invitation',
      username: undefined,
      providers: [{ id: 'google', name: 'Google', mark: 'letter' }],
    },
  ],
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
      ].map((method) => ({ ...method, kind: 'identity' as const, isOfApplication: method.key === 'own' })),
    },
  ],
  ['account link invitation', { ...link, purpose: 'invitation', problem: 'passwords-differ' }],
  ['account link invitation of an organization', { ...link, purpose: 'invitation', organization: 'Globex' }],
  [
    'account link with a passkey',
    { ...link, passkey: { ceremony: aCeremony, problem: 'passkey-taken' }, username: undefined },
  ],
  ['account link with a passkey or a password', { ...link, passkey: { ceremony: aCeremony, problem: undefined } }],
  [
    'account link methods with a passkey',
    {
      kind: 'account-link-methods',
      action: '/account/link',
      hidden: link.hidden,
      account: link.account,
      methods: [
        { kind: 'passkey', key: 'p', agent: undefined, isSynced: true, addedSecondsAgo: 60, usedSecondsAgo: undefined },
      ],
    },
  ],
  [
    'account link used by a passkey',
    { kind: 'account-link-used', method: 'passkey', product: undefined, accountUri: '/account', consoleUri: undefined },
  ],
  [
    'account link used',
    {
      kind: 'account-link-used',
      method: 'password',
      product: undefined,
      accountUri: '/account',
      consoleUri: '/console',
    },
  ],
  [
    'account link used for a product',
    {
      kind: 'account-link-used',
      method: 'password',
      product: { uri: 'https://board.example/login', name: { en: 'Build Board', de: 'Bautafel' } },
      accountUri: '/account',
      consoleUri: '/console',
    },
  ],
  [
    'account link used at a provider for a product without a name',
    {
      kind: 'account-link-used',
      method: 'provider',
      product: { uri: 'https://board.example/login', name: undefined },
      accountUri: '/account',
      consoleUri: undefined,
    },
  ],
]
