import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isObject, type JsonObject } from '../../base/json.ts'
import { base32, base32Bytes } from '../../protocol/sign-in/totp.ts'
import { isAcceptable, readDocument } from '../input-file.ts'
import type { Impossible, SourceRecord } from '../records.ts'
import type { Source } from '../source.ts'
import { clientOf } from './keycloak-client.ts'
import { lostMembers, type MemberTable } from './members.ts'
import {
  isGranted,
  mapObjects,
  mayApply,
  objectsOf,
  parsedObject,
  readFactors,
  recordsIn,
  sourceRecord,
  takeAttributes,
  textOf,
  textsOf,
} from './attributes.ts'

/** Its names of attributes that are standard claims. */
const CLAIMS: Readonly<Record<string, string>> = {
  phoneNumber: 'phone_number',
  phoneNumberVerified: 'phone_number_verified',
}
/** The credentials that are no second factors. */
const PASSWORDS: ReadonlySet<unknown> = new Set(['password', 'password-history'])

const ORGANIZATION: MemberTable = { id: 'read', name: 'read', enabled: 'read', members: 'read' }
const USER: MemberTable = {
  attributes: 'read',
  credentials: 'read',
  email: 'read',
  emailVerified: 'read',
  enabled: 'read',
  federatedIdentities: 'read',
  federationLink: 'read',
  firstName: 'read',
  groups: 'read',
  id: 'read',
  lastName: 'read',
  realmRoles: 'read',
  requiredActions: 'read',
  serviceAccountClientId: 'read',
  totp: 'read',
  username: 'read',
  // Tokens do not move.
  notBefore: 'harmless',
  // What its console may do with the account, and when it was created.
  access: 'harmless',
  createdTimestamp: 'harmless',
  disableableCredentialTypes: 'harmless',
  // Each user manages the own account.
  clientRoles: { members: { account: 'harmless' } },
}
const GROUP: MemberTable = {
  id: 'harmless',
  name: 'read',
  path: 'read',
  parentId: 'harmless',
  subGroups: 'read',
  subGroupCount: 'harmless',
  access: 'harmless',
}
const ROLE: MemberTable = {
  id: 'harmless',
  name: 'read',
  description: 'harmless',
  clientRole: 'harmless',
  containerId: 'harmless',
}
/** The roles that each user has. */
const DEFAULT_ROLES = /^(?:default-roles-.*|offline_access|uma_authorization)$/

/** What a user has to do who was given a password. */
const REPLACE_PASSWORD = 'UPDATE_PASSWORD'
const ARGON2_VERSIONS: ReadonlyMap<string | undefined, string> = new Map([
  ['1.0', '16'],
  ['1.3', '19'],
])

/** A file that a person wrote, for Keycloak to make the ids. */
const ID_ABSENT: Impossible = { reason: 'id_absent', detail: undefined }

/** A realm as `kc.sh export` writes it: a file, or a folder with files of users. */
export const KEYCLOAK: Source = {
  verb: 'keycloak',
  summary: 'Import users, groups, organizations and clients of a realm of Keycloak.',
  argument: [
    'realm',
    'a file or folder of "kc.sh export --realm <realm>"; the export of its console lacks the secrets',
  ],
  options: [],
  switches: [['roles', 'take the realm roles of users too, as groups: the role admin is the group role:admin']],
  namesProvidersHere: false,
  paths: ({ main }) => filesOf(main),
  *read({ main, switches }): Generator<SourceRecord> {
    const takesRoles = switches.has('roles')
    let members: ReadonlyMap<string, readonly string[]> = new Map()
    let line = 0
    for (const path of filesOf(main)) {
      const realm = readDocument(path)
      if (!isObject(realm)) throw new Error(`${path} is not the export of a realm.`)
      const organizations = [...recordsIn(path, 'organizations', realm['organizations'] ?? [])]
      if (organizations.length > 0) members = membersOf(objectsOf(realm['organizations']))
      for (const { value } of organizations) yield organizationOf((line += 1), value)
      for (const { value } of recordsIn(path, 'groups', realm['groups'] ?? [])) yield* groupsOf((line += 1), value, '')
      if (takesRoles)
        for (const role of objectsOf(isObject(realm['roles']) ? realm['roles']['realm'] : []))
          if (!DEFAULT_ROLES.test(String(role['name']))) yield roleOf((line += 1), role)
      for (const { value } of recordsIn(path, 'users', realm['users'] ?? []))
        yield userOf((line += 1), value, { members, takesRoles })
      // Accounts of which the realm has only what their directory does not.
      for (const { value } of recordsIn(path, 'federatedUsers', realm['federatedUsers'] ?? []))
        yield sourceRecord('user', (line += 1), value?.['id'], { skipped: 'user_elsewhere' })
      for (const { value } of recordsIn(path, 'clients', realm['clients'] ?? [])) yield clientOf((line += 1), value)
    }
  },
}

/** The realm comes before its users. */
function filesOf(path: string): readonly string[] {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return [path]
  const names = readdirSync(path).filter((name) => name.endsWith('.json'))
  const realms = names.filter((name) => name.endsWith('-realm.json'))
  const [realm] = realms
  if (realm === undefined || realms.length > 1)
    throw new Error(`${path} has the export of ${realms.length} realms. Give the folder of one: kc.sh export --realm`)
  const start = realm.replace(/realm\.json$/, 'users-')
  const users = names.filter((name) => name.startsWith(start))
  return [realm, ...users.toSorted((one, other) => numberOf(one) - numberOf(other))].map((name) => join(path, name))
}

function numberOf(name: string): number {
  return Number(/(\d+)\.json$/.exec(name)?.[1] ?? 0)
}

/** The ids of the organizations of each user, by the user's name. */
function membersOf(organizations: readonly JsonObject[]): ReadonlyMap<string, readonly string[]> {
  const ids = new Map<string, string[]>()
  for (const { id, members } of organizations) {
    for (const { username } of objectsOf(members)) {
      if (typeof username !== 'string' || typeof id !== 'string') continue
      const known = ids.get(username)
      if (known === undefined) ids.set(username, [id])
      else known.push(id)
    }
  }
  return ids
}

function organizationOf(line: number, organization: JsonObject | undefined): SourceRecord {
  if (!isAcceptable(organization)) return sourceRecord('organization', line, organization?.['id'], {})
  const { id, name, enabled } = organization
  if (typeof id !== 'string') return sourceRecord('organization', line, id, { impossible: ID_ABSENT })
  return sourceRecord('organization', line, id, {
    dropped: lostMembers(organization, ORGANIZATION).map((one) => `organizations.${one}`),
    value: { type: 'organization', id, name, disabled: !isGranted(enabled ?? true) },
  })
}

/** A group and those below it. */
function* groupsOf(line: number, group: JsonObject | undefined, above: string): Generator<SourceRecord> {
  if (!isAcceptable(group)) return yield sourceRecord('group', line, group?.['path'], {})
  const { name, path = `${above}/${textOf(name)}` } = group
  yield sourceRecord('group', line, path, {
    dropped: lostMembers(group, GROUP).map((one) => `groups.${one}`),
    value: { type: 'group', id: idOfPath(String(path)), name: String(path).slice(1) },
  })
  for (const inner of objectsOf(group['subGroups'])) yield* groupsOf(line, inner, String(path))
}

function roleOf(line: number, role: JsonObject): SourceRecord {
  const { name } = role
  return sourceRecord('group', line, name, {
    dropped: lostMembers(role, ROLE).map((one) => `roles.${one}`),
    value: { type: 'group', id: idOfRole(String(name)), name },
  })
}

/**
 * `/a/b` is `a:b`. A name with a `:` or a `/` keeps its `/`, so that it is no id: two groups there would be one here. For the same reason no
 * group has the id of a role.
 */
function idOfPath(path: string): string {
  const parts = path.replace(/^\//, '').split('/')
  return path.includes(':') || path.includes('~/') || parts[0] === 'role' ? path : parts.join(':')
}

function idOfRole(name: string): string {
  return `role:${name}`
}

function userOf(
  line: number,
  user: JsonObject | undefined,
  { members, takesRoles }: { readonly members: ReadonlyMap<string, readonly string[]>; readonly takesRoles: boolean },
): SourceRecord {
  if (!isAcceptable(user)) return sourceRecord('user', line, user?.['id'], {})
  const { id, username, firstName, lastName } = user
  // The account of a client that acts for itself: the client has it.
  if (mayApply(user['serviceAccountClientId'])) return sourceRecord('user', line, id, { skipped: 'part_of_system' })
  // Only the directory knows its state and its password.
  if (mayApply(user['federationLink'])) return sourceRecord('user', line, id, { skipped: 'user_elsewhere' })
  if (typeof id !== 'string') return sourceRecord('user', line, id, { impossible: ID_ABSENT })
  const names = [firstName, lastName].map(textOf).filter((one) => one !== undefined && one !== '')
  const taken = takeAttributes(names.join(' '), {
    ...attributesOf(user['attributes']),
    given_name: firstName,
    family_name: lastName,
    preferred_username: username,
  })
  const actions = textsOf(user['requiredActions'])
  const roles = textsOf(user['realmRoles']).filter((one) => !DEFAULT_ROLES.test(one))
  // An administrator gave the password, and the user had to replace it at the next sign-in.
  const isTemporary = actions.includes(REPLACE_PASSWORD)
  const hash = passwordOf(objectsOf(user['credentials']))
  const { factors, lostFactors } = readFactors(user['credentials'], {
    kindIn: 'type',
    isNoFactor: ({ type }) => PASSWORDS.has(type),
    // Users make new ones here.
    isReplacement: ({ type }) => type === 'recovery-authn-codes',
    appOf,
  })
  // The realm may say that there is an app, and leave its credential out.
  const isUnnamed = factors.totp === null && !factors.has_second_factor && mayApply(user['totp'])
  return sourceRecord('user', line, id, {
    lostFactors: isUnnamed ? ['totp'] : lostFactors,
    notes: hash !== undefined && isTemporary ? ['password_not_used'] : [],
    dropped: [
      ...taken.dropped,
      ...(roles.length > 0 && !takesRoles ? ['realmRoles'] : []),
      ...lostMembers(user, USER),
      ...actions.filter((one) => one !== REPLACE_PASSWORD).map((one) => `required action ${one}`),
    ],
    value: {
      type: 'user',
      id,
      email: user['email'] ?? null,
      email_verified: isGranted(user['emailVerified']),
      name: taken.name,
      profile: taken.profile,
      password_hash: isTemporary ? null : hash,
      // As Keycloak reads its own exports, also if the member is absent.
      disabled: !isGranted(user['enabled']),
      ...factors,
      has_second_factor: factors.has_second_factor || isUnnamed,
      identities: mapObjects(user['federatedIdentities'], (one) => ({
        provider: one['identityProvider'],
        subject: one['userId'],
      })),
      organizations: members.get(String(username)) ?? [],
      groups: [...textsOf(user['groups']).map(idOfPath), ...(takesRoles ? roles.map(idOfRole) : [])],
    },
  })
}

function attributesOf(attributes: unknown): JsonObject {
  const entries = Object.entries(isObject(attributes) ? attributes : {})
  return Object.fromEntries(entries.map(([name, value]) => [CLAIMS[name] ?? name, claimOf(CLAIMS[name], value)]))
}

function claimOf(claim: string | undefined, value: unknown): unknown {
  const text = textOf(value)
  return claim === 'phone_number_verified' && text !== undefined ? text === 'true' : (text ?? value)
}

/** The parts of a credential, which are JSON as text. Keycloak before 8 has them side by side, and names an app by the way of its codes. */
function partsOf(credential: JsonObject): { readonly secret: JsonObject; readonly data: JsonObject } {
  const { type, hashedSaltedValue: value, salt, secretData, credentialData } = credential
  if (secretData === undefined && credentialData === undefined)
    return { secret: { value, salt }, data: { ...credential, subType: type } }
  return { secret: parsedObject(secretData), data: parsedObject(credentialData) }
}

/** Parameters of argon2 are lists of one text. */
function passwordOf(credentials: readonly JsonObject[]): string | undefined {
  const password = credentials.find(({ type }) => type === 'password')
  if (password === undefined) return undefined
  const { secret, data } = partsOf(password)
  const { algorithm, hashIterations: rounds, additionalParameters } = data
  const [salt, hash] = [textOf(secret['salt']), textOf(secret['value'])]
  if (algorithm !== 'argon2') {
    const digest = algorithm === 'pbkdf2' ? 'pbkdf2-sha1' : textOf(algorithm)
    return `$${digest}$i=${textOf(rounds)}$${salt}$${hash}`
  }
  const parameters = isObject(additionalParameters) ? additionalParameters : {}
  const [type, memory, lanes] = ['type', 'memory', 'parallelism'].map((name) => textOf(parameters[name]))
  const version = ARGON2_VERSIONS.get(textOf(parameters['version']))
  return `$argon2${type}$v=${version}$m=${memory},t=${textOf(rounds)},p=${lanes}$${salt}$${hash}`
}

/** The secret of an authenticator app that computes codes as this server does, in base32. Its text is the secret, or base32 of it. */
function appOf(credential: JsonObject): string | undefined {
  const parts = partsOf(credential)
  const { subType, digits, period, algorithm, secretEncoding } = parts.data
  const secret = textOf(parts.secret['value'])
  const isUsual = subType === 'totp' && digits === 6 && period === 30 && algorithm === 'HmacSHA1'
  if (!isUsual || secret === undefined) return undefined
  const bytes = secretEncoding === 'BASE32' ? base32Bytes(secret) : Buffer.from(secret)
  return bytes === undefined || bytes.length < 16 ? undefined : base32(bytes)
}
