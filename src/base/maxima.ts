/** A maximum that a caller or an operator meets. docs/maxima.md is generated from the table. */
export interface Maximum {
  readonly most: number
  readonly unit: 'bytes' | 'characters' | 'bits' | 'seconds' | 'entries'
  /** What the number bounds: the noun, and after a colon what of it. */
  readonly of: string
  /** The section that gives the number, or the reason for it. Absent: no specification has one. */
  readonly source?: string
}

/**
 * The maxima of sizes and counts. They have one table because they have to fit together: what the server makes at one of them must be
 * within the others, so that the server, its commands and its API read it. test/maxima compares what is made with what is
 * read. Rates and lifetimes are settings, and what callers can make the server store is in docs/faults.md.
 */
export const MAXIMA = {
  // The declaration of APIs.
  apis: { most: 1000, unit: 'entries', of: 'API: in all' },
  scopesOfApi: { most: 100, unit: 'entries', of: 'API: scopes' },
  scopeName: { most: 100, unit: 'characters', of: 'API: name of a scope', source: 'RFC 6749 §3.3 has none' },
  /** Less than a token has, so that a client can get all scopes of an API in one token. */
  apiTexts: {
    most: 4096,
    unit: 'characters',
    of: 'API: identifier and names of the scopes together, with a space for each',
  },
  displayText: {
    most: 200,
    unit: 'characters',
    of: 'Server: name of an API, organization or user, sentence of a scope',
  },
  exchangeRules: { most: 20, unit: 'entries', of: 'API: other APIs whose tokens it takes in exchange' },

  // The scope and the audience of a request and of a token.
  scopesOfRequest: { most: 250, unit: 'entries', of: 'Scopes: of a request, a registration, a token' },
  advertisedScopes: {
    most: 240,
    unit: 'entries',
    of: 'Scopes: in the metadata of the server (beyond that those of OpenID Connect alone)',
    source: 'RFC 8414 §2: a server need not list all',
  },
  advertisedTexts: { most: 4096, unit: 'characters', of: 'Scopes: these together, with a space for each' },
  resource: {
    most: 2048,
    unit: 'characters',
    of: 'API: identifier',
    source: 'RFC 8707 §2 has none',
  },
  resourcesOfRequest: { most: 8, unit: 'entries', of: 'Request: resources' },
  tokenTexts: {
    most: 4096,
    unit: 'characters',
    of: 'Token: scopes of APIs, resources and acting APIs together, with a space for each',
  },

  // Tokens and what clients sign.
  accessToken: { most: 8192, unit: 'characters', of: 'Token: access token' },
  idToken: {
    most: 6144,
    unit: 'characters',
    of: 'Token: ID token (beyond that the claims of the user are at userinfo alone)',
    source: 'a hint is in an address or is pushed',
  },
  idTokenHint: { most: 8192, unit: 'characters', of: 'Token: `id_token_hint`' },
  clientAssertion: {
    most: 7168,
    unit: 'characters',
    of: 'Token: client assertion',
    source: 'a body has it beside a token',
  },
  identityAssertion: { most: 8192, unit: 'characters', of: 'Token: identity assertion of a provider (ID-JAG)' },
  proof: { most: 4096, unit: 'characters', of: 'Token: DPoP proof' },
  groupsOfToken: {
    most: 100,
    unit: 'entries',
    of: 'Token: groups (beyond that at userinfo and in introspection alone)',
  },
  groupsInToken: { most: 4096, unit: 'bytes', of: 'Token: these as JSON' },
  jwtId: { most: 256, unit: 'characters', of: 'Token: `jti` and `kid` of what a client or a provider signs' },
  actors: { most: 4, unit: 'entries', of: 'Token: parties in `act`' },

  // Requests.
  body: { most: 16 * 1024, unit: 'bytes', of: 'Request: body' },
  adminBody: { most: 256 * 1024, unit: 'bytes', of: 'Request: body of an administrator who has authenticated' },
  bodyChunks: { most: 512, unit: 'entries', of: 'Request: chunks of a body' },
  bodyRead: { most: 512 * 1024, unit: 'bytes', of: 'Request: bytes read of an oversized body' },
  headers: {
    most: 16 * 1024,
    unit: 'bytes',
    of: 'Request: headers with the URL',
    source: 'the default of Node.js',
  },
  headerFields: { most: 100, unit: 'entries', of: 'Request: header fields' },
  parameters: { most: 100, unit: 'entries', of: 'Request: parameters of a form or a query' },
  consoleParameters: { most: 800, unit: 'entries', of: 'Request: fields of a form of the console' },
  state: { most: 4096, unit: 'bytes', of: 'Request: `state`, as stored' },
  nonce: { most: 1024, unit: 'characters', of: 'Request: `nonce`' },
  claimsParameter: { most: 4096, unit: 'characters', of: 'Request: `claims`' },
  claims: { most: 40, unit: 'entries', of: 'Request: claims in `claims`' },
  address: {
    most: 8000,
    unit: 'characters',
    of: 'Request: address that a form of another site is sent on as',
    source: 'RFC 9110 §4.1',
  },
  pushedParameters: { most: 8192, unit: 'characters', of: 'Request: parameters of a pushed request' },

  // Clients.
  registration: { most: 8192, unit: 'bytes', of: 'Client: metadata, as stored' },
  registeredScope: { most: 4608, unit: 'characters', of: 'Client: `scope` of a registration' },
  metadataList: { most: 10, unit: 'entries', of: 'Client: redirect URIs, contacts and other lists' },
  uri: { most: 2048, unit: 'characters', of: 'Client: URI of a registration, redirect URI of a request' },
  clientUrl: { most: 512, unit: 'characters', of: 'Client: URL of a metadata document' },
  clientName: { most: 128, unit: 'characters', of: 'Client: name' },
  clientKeys: { most: 20, unit: 'entries', of: 'Client: keys', source: 'RFC 7517 §5 has none' },
  softwareId: { most: 256, unit: 'characters', of: 'Client: `software_id`' },
  softwareVersion: { most: 128, unit: 'characters', of: 'Client: `software_version`' },
  redirectHosts: { most: 20, unit: 'entries', of: 'Client: redirect hosts of an initial access token' },
  email: { most: 254, unit: 'characters', of: 'User: e-mail address', source: 'RFC 5321 §4.5.3.1.3' },

  // What an operator keeps.
  signingKeys: { most: 20, unit: 'entries', of: 'Server: published keys' },
  domainRules: { most: 1000, unit: 'entries', of: 'Server: rules for domains' },
  providers: { most: 1000, unit: 'entries', of: 'Provider: in all' },
  domainPattern: { most: 512, unit: 'characters', of: 'Server: pattern of such a rule' },
  providerList: { most: 100, unit: 'entries', of: 'Provider: domains, private hosts' },
  providerGroups: { most: 200, unit: 'entries', of: 'Provider: values of the groups claim, each with a group' },
  providerGroupValue: { most: 256, unit: 'characters', of: 'Provider: such a value (longer ones mean no group)' },
  providerGroupValues: {
    most: 1000,
    unit: 'entries',
    of: 'Provider: all values of the claim (beyond that, what it said before stays)',
  },
  assertionList: { most: 20, unit: 'entries', of: 'Provider: clients, and APIs, of its identity assertions' },
  password: { most: 1024, unit: 'bytes', of: 'User: password' },
  profile: { most: 8192, unit: 'bytes', of: 'User: profile, as stored' },
  memberships: { most: 100, unit: 'entries', of: 'User: organizations' },
  groups: { most: 5000, unit: 'entries', of: 'Group: of the server' },
  groupsOfOrganization: { most: 200, unit: 'entries', of: 'Group: of an organization' },
  protectedGroups: { most: 100, unit: 'entries', of: 'Group: protected' },
  groupWords: { most: 100, unit: 'entries', of: 'Group: those for which a client or an API has a word' },
  groupWord: { most: 128, unit: 'characters', of: 'Group: such a word' },
  accessRules: { most: 200, unit: 'entries', of: 'Access rule: of the server' },
  accessRule: { most: 8192, unit: 'bytes', of: 'Access rule: as stored, also all of an organization together' },
  accessRulesOfOrganization: { most: 20, unit: 'entries', of: 'Access rule: of an organization' },
  accessTerms: { most: 50, unit: 'entries', of: 'Access rule: clients, kinds of access, or people' },
  groupsOfUser: {
    most: 200,
    unit: 'entries',
    of: 'User: groups of the server, or of an organization, of each source',
  },
  groupsOfAnswer: {
    most: 100,
    unit: 'entries',
    of: 'User: groups, as the application that signs users in says them',
  },
  passkeys: { most: 20, unit: 'entries', of: 'User: passkeys' },
  sessions: { most: 200, unit: 'entries', of: 'User: sessions' },
  browsers: { most: 20, unit: 'entries', of: 'User: remembered browsers' },

  // Files.
  appliedSets: { most: 20, unit: 'entries', of: '`grantor apply`: sets' },
  appliedRecords: { most: 1000, unit: 'entries', of: '`grantor apply`: records of a set' },
  appliedChanges: { most: 100, unit: 'entries', of: '`grantor apply`: records that a request adds or removes' },
  appliedSet: {
    most: 1_000_000,
    unit: 'bytes',
    of: '`grantor apply`: a set, as a line of a backup',
    source: 'less than a line',
  },
  appliedFile: { most: 1024 * 1024, unit: 'bytes', of: '`grantor apply`: file' },
  backupHeader: { most: 64 * 1024, unit: 'bytes', of: 'Backup, export: first line' },
  backupLine: { most: 1024 * 1024, unit: 'bytes', of: 'Backup, export: line, which is a row of the store' },
} as const satisfies Readonly<Record<string, Maximum>>
