import { NAME_MEMBERS } from '../../protocol/client/identity.ts'
import type * as z from 'zod'
import { DEFAULT_API_TOKENS } from '../../admin/api/document.ts'
import type { APPLIED_KINDS } from '../../admin/apply.ts'
import { describeRules, rulesOf, type RulesInput } from '../../admin/client/document.ts'
import { impliedMetadata } from '../../admin/client/metadata.ts'
import { GROUPS_OFF } from '../../admin/group/group-claim.ts'
import { templateMembers } from '../../admin/provider/settings.ts'
import { type GroupId, ownIdOf } from '../../protocol/access/group.ts'
import { CONSOLE_CLIENT_ID } from '../../protocol/client/console.ts'
import { parseDomainPattern, type DomainVerdict } from '../../protocol/client/domain-rule.ts'
import { readClientKeys } from '../../protocol/client/keys.ts'
import { PROVIDER_TEMPLATES, type ProviderTemplateName } from '../../protocol/sign-in/provider.ts'
import { requireTask, type Members } from '../lib/perform-task.ts'
import { forShell } from '../../base/shell.ts'

/** A task that changes members of a record. */
interface Update {
  readonly task: string
  /** The member of the record whose members are those of the input: `rules`. */
  readonly within?: string
  /** The member of the record that a member of the input is, where the names differ. */
  readonly named?: Readonly<Record<string, string>>
  /** Members that are sent together: a change of one of them is a change of all. */
  readonly together?: readonly string[]
  /** Members of the record that the task changes to a value that none of its inputs names. */
  readonly implied?: (before: Members, after: Members) => readonly string[]
  /** Whether this task comes first, because the others need its change. */
  readonly isFirst?: (before: Members, after: Members) => boolean
  /** Adds to the members that are sent what the server would otherwise keep. */
  readonly prepare?: (sent: Members, before: Members) => Members
}

/** A kind of record that files can have. What it has besides comes from the schemas of the tasks. */
export interface Kind {
  readonly name: (typeof APPLIED_KINDS)[number]
  /** The member of a file that has its records. */
  readonly list: string
  /** The member of a record that says which one it is. */
  readonly key: string
  /** The member of a row that says when it was created; undefined: none does. */
  readonly created?: string
  readonly listTask: string
  /** Rows that files cannot have are left out. */
  readonly listFilter?: Members
  readonly isListed?: (row: Members) => boolean
  /** The task that shows one record; undefined: the list has all. */
  readonly showTask?: string
  readonly createTask: (after: Members) => string
  readonly updates: readonly Update[]
  readonly deleteTask: string
  /** Members of the task that creates which files do not have. */
  readonly omitted?: readonly string[]
  /** Members of a file that the store does not have. */
  readonly unstored?: readonly string[]
  /** The task that takes the secret, and whether the task that creates takes it too. */
  readonly secret?: { readonly task: string; readonly isForNew: boolean }
  /** All members of a record of a file, also those that it leaves out. */
  readonly complete: (members: Members, key: string) => Members
  /** The members that a record in the store has, by the names of the file. */
  readonly restored?: (row: Members) => Members
  /** Completes a sentence that begins with the key: why no record can have these members; undefined: one can. */
  readonly faultOf?: (key: string, members: Members) => string | undefined
  /** Why this record cannot be changed by a file; undefined: it can. */
  readonly refusal?: (row: Members) => string | undefined
  /** What the change means for others. */
  readonly consequences?: (before: Members, after: Members, changed: readonly string[]) => readonly string[]
}

/** In the order in which they are applied; they are deleted in the reverse order. */
export const KINDS: readonly Kind[] = [
  {
    name: 'organization',
    list: 'organizations',
    key: 'organization_id',
    created: 'created_at',
    listTask: 'organization.list',
    showTask: 'organization.show',
    createTask: () => 'organization.create',
    updates: [{ task: 'organization.rename' }],
    deleteTask: 'organization.delete',
    complete: (members) => members,
  },
  {
    name: 'group',
    list: 'groups',
    key: 'group_id',
    created: 'created_at',
    listTask: 'group.list',
    showTask: 'group.show',
    createTask: () => 'group.create',
    updates: [{ task: 'group.update' }],
    deleteTask: 'group.delete',
    complete: (members, key) => ({ name: ownIdOf(key as GroupId), ...members }),
  },
  {
    name: 'api',
    list: 'apis',
    key: 'resource',
    created: 'created_at',
    listTask: 'api.list',
    showTask: 'api.show',
    createTask: () => 'api.create',
    updates: [{ task: 'api.update', prepare: withoutOtherExchanges }],
    deleteTask: 'api.delete',
    // Each scope of a file has its own.
    omitted: ['step_up', 'texts'],
    complete: ({ scopes = [], tokens = {}, ...members }) => ({
      name: '',
      exchange: [],
      ...GROUPS_OFF,
      ...members,
      scopes: (scopes as readonly Members[]).map((scope) => ({ step_up: null, ...scope })),
      tokens: { ...DEFAULT_API_TOKENS, ...(tokens as Members) },
    }),
    consequences(before, after) {
      const names = (api: Members) => ((api['scopes'] ?? []) as readonly Members[]).map(({ name }) => String(name))
      const gone = names(before).filter((name) => !names(after).includes(name))
      return [
        ...(gone.length === 0 ? [] : [`No more tokens get the scope ${gone.join(', ')}.`]),
        'Issued tokens stay valid, as they are.',
      ]
    },
  },
  {
    name: 'domain',
    list: 'domains',
    key: 'pattern',
    listTask: 'domain.list',
    createTask: ({ verdict }) => (verdict === 'trusted' ? 'domain.trust' : 'domain.block'),
    updates: [],
    deleteTask: 'domain.forget',
    omitted: ['previous_changed_at'],
    complete: (members) => members,
    faultOf(pattern, { verdict }) {
      const read = parseDomainPattern(pattern, verdict as DomainVerdict)
      return read.kind === 'refused' ? read.reason : undefined
    },
    consequences: (_, { verdict }) => (verdict === 'blocked' ? consequencesOf('domain.block') : []),
  },
  {
    name: 'provider',
    list: 'providers',
    key: 'provider_id',
    created: 'created_at',
    listTask: 'provider.list',
    showTask: 'provider.show',
    createTask: () => 'provider.create',
    updates: [{ task: 'provider.update', together: ['organization_id', 'membership'] }],
    deleteTask: 'provider.delete',
    unstored: ['template'],
    secret: { task: 'provider.update', isForNew: true },
    complete: ({ template, ...members }) => ({ ...templateMembers(template as ProviderTemplateName), ...members }),
    restored: (row) => ({ template: templateOf(row), ...row }),
    consequences: (before, after) =>
      before['organization_id'] === (after['organization_id'] ?? null)
        ? []
        : ['Memberships in the previous organization stay.'],
  },
  {
    name: 'client',
    list: 'clients',
    key: 'client_id',
    created: 'client_id_issued_at',
    listTask: 'client.list',
    listFilter: { source: 'operator' },
    isListed: ({ client_id: id }) => id !== CONSOLE_CLIENT_ID,
    showTask: 'client.show',
    createTask: () => 'client.create',
    updates: [
      {
        task: 'client.set-keys',
        together: ['jwks', 'jwks_uri', 'token_endpoint_auth_signing_alg'],
        implied: (before, after) =>
          before['token_endpoint_auth_method'] !== 'none' && after['token_endpoint_auth_method'] === 'private_key_jwt'
            ? ['token_endpoint_auth_method']
            : [],
      },
      { task: 'client.update' },
      { task: 'client.set-rules', within: 'rules', isFirst: loosensRules },
      { task: 'client.approve-scopes', named: { scope: 'approved_scope' } },
    ],
    deleteTask: 'client.delete',
    // The secret that the server made for the new client was shown to no one.
    secret: { task: 'client.set-secret', isForNew: false },
    faultOf(_, { jwks }) {
      const [fault] = jwks === undefined ? [] : readKeySet(jwks).faults
      return fault === undefined ? undefined : `has a jwks that is not acceptable: ${fault.replace(/\.$/, '')}`
    },
    complete({ jwks, ...others }) {
      // The server keeps only what it needs of a key.
      const members = jwks === undefined ? others : { ...others, jwks: readKeySet(jwks).jwks }
      const implied = impliedMetadata(members)
      return { ...members, ...implied, rules: describeRules(rulesOf(members['rules'] as RulesInput, implied)) }
    },
    refusal: refusalOfClient,
    consequences: consequencesForClient,
  },
  {
    name: 'access-rule',
    list: 'access_rules',
    key: 'rule_id',
    created: 'created_at',
    listTask: 'access-rule.list',
    createTask: () => 'access-rule.create',
    updates: [{ task: 'access-rule.update' }],
    deleteTask: 'access-rule.delete',
    complete: (members) => ({ ...RULE_DEFAULTS, ...members }),
    restored: (row) => ({ ...row, max_age: row['max_age'] ?? RULE_DEFAULTS.max_age }),
    faultOf: (_, members) => (namesAddress(members) ? 'names a user by an address; a file gives the id' : undefined),
    consequences: () => ['Issued tokens stay valid; introspection and their next ones have what is left.'],
  },
]

const RULE_DEFAULTS = { require: 'none', max_age: 0, state: 'on' } as const

/** The store has ids, so that an address would always differ. */
function namesAddress({ users = [], except_users: others = [] }: Members): boolean {
  return [users, others].flat().some((text) => String(text).includes('@'))
}

/** What the summary of a task says after its first sentence, or behind its colon. */
export function consequencesOf(task: string): readonly string[] {
  const { summary } = requireTask(task)
  const [, mark, rest = ''] = /^([^.:]*[.:]) (.+)$/.exec(summary) ?? []
  return mark === undefined ? [summary] : [rest.charAt(0).toUpperCase() + rest.slice(1)]
}

/** How the store writes a key. */
export function keyOf({ name }: Kind, text: string): string {
  const read = name === 'domain' ? parseDomainPattern(text, 'blocked') : undefined
  return read?.kind === 'pattern' ? read.pattern : text
}

/** The schema of a key in a file: a record that exists may have an id that this server made. */
export function keySchema({ key, showTask, createTask }: Kind): z.ZodType {
  return requireTask(showTask ?? createTask({})).input.shape[key] as z.ZodType
}

/** The members that a file can give a record, besides the secret. */
export function memberSchemas(kind: Kind): Readonly<Record<string, z.ZodType>> {
  const { key, omitted = [], secret } = kind
  const shape = requireTask(kind.createTask({})).input.shape as Readonly<Record<string, z.ZodType>>
  const members = Object.entries(shape).filter(
    ([name]) => name !== key && !omitted.includes(name) && !(secret !== undefined && name === SECRET),
  )
  return Object.fromEntries(members)
}

/** The member of a file that names a secret, and the member of the tasks that takes it. */
export const SECRET = 'client_secret'

/** A set of public keys as the store has it. A fault repeats no key. */
function readKeySet(jwks: unknown): { readonly jwks: unknown; readonly faults: readonly string[] } {
  const faults: string[] = []
  const keys = readClientKeys({ jwks }, undefined, ({ msg }) => void faults.push(msg))
  return { jwks: keys.jwks, faults }
}

/** A rule that is absent from an update stays, and one without scopes is removed. */
function withoutOtherExchanges(sent: Members, before: Members): Members {
  if (sent['exchange'] === undefined) return sent
  const rules = sent['exchange'] as readonly Members[]
  const others = ((before['exchange'] ?? []) as readonly Members[]).filter(
    ({ resource }) => !rules.some((rule) => rule['resource'] === resource),
  )
  return { ...sent, exchange: [...rules, ...others.map(({ resource }) => ({ resource, scope: '' }))] }
}

/** Rules that need a scope or keys end before the metadata changes, and begin after it. */
function loosensRules(before: Members, after: Members): boolean {
  const [one, other] = [before['rules'] as Members, after['rules'] as Members]
  return (
    (one['consent'] === 'implied' && other['consent'] === 'asked') ||
    (one['profile'] === 'fapi2' && other['profile'] !== 'fapi2')
  )
}

function refusalOfClient(row: Members): string | undefined {
  if (row['document_url'] !== null) return 'it is its metadata document, which its host changes'
  return row['source'] === 'operator'
    ? undefined
    : `it registered. To take it over: grantor client adopt ${forShell(String(row['client_id']))}`
}

function consequencesForClient(before: Members, after: Members, changed: readonly string[]): readonly string[] {
  const hosts = (client: Members) => JSON.stringify([...new Set(destinations(client).map(hostOf))].toSorted())
  const isOther = changed.some((member) => NAME_MEMBERS.some((one) => one === member)) || hosts(before) !== hosts(after)
  const losesSecret = changed.includes('token_endpoint_auth_method') && before['has_secret'] === true
  return [
    ...(isOther ? ['Users are asked for consent again.'] : []),
    ...(losesSecret ? ['Its secret stops working.'] : []),
    'Its tokens stay valid.',
  ]
}

function destinations(client: Members): readonly string[] {
  const [uris, logouts] = [client['redirect_uris'] ?? [], client['post_logout_redirect_uris'] ?? []]
  const notified = (client['backchannel_logout_uri'] ?? '') as string
  return [...(uris as readonly string[]), ...(logouts as readonly string[]), notified]
}

function hostOf(uri: string): string {
  return URL.parse(uri)?.hostname ?? uri
}

/** The template of a provider: the one with its issuer, or the first that presets its kind and its claims. */
function templateOf(row: Members): string {
  const names = Object.keys(PROVIDER_TEMPLATES) as ProviderTemplateName[]
  const fits = (name: ProviderTemplateName): boolean => {
    const preset = templateMembers(name)
    return preset['kind'] === row['kind'] && preset['subject_claim'] === row['subject_claim']
  }
  const own = names.find((name) => templateMembers(name)['issuer'] === row['issuer'] && fits(name))
  return (
    own ?? ['oidc' as const, ...names].find((name) => templateMembers(name)['issuer'] === null && fits(name)) ?? 'oidc'
  )
}
