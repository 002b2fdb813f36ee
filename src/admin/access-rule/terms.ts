import * as z from 'zod'
import { MAXIMA } from '../../base/maxima.ts'
import { type GroupId, groupIdOf, organizationOfGroup, parseGroupId } from '../../protocol/access/group.ts'
import { ANY_ORGANIZATION, valueOf } from '../../protocol/access/judge.ts'
import type { AccessRule, AccessTerm, Condition, PersonTerm } from '../../protocol/access/rule.ts'
import { parseDomainPattern } from '../../protocol/client/domain-rule.ts'
import { parseClientIdentifier } from '../../protocol/client/identifier.ts'
import { CLIENT_SOURCES, type ClientTerm } from '../../protocol/client/policy.ts'
import { levelWord } from '../../protocol/sign-in/acr.ts'
import { parseOrganizationId, parseUserId, type OrganizationId } from '../../protocol/ids.ts'
import { findNamed } from '../../protocol/token/resource.ts'
import { conflict, conflictIn } from '../admin-error.ts'
import type { TaskContext } from '../task.ts'

/** The parts of a rule in inputs and answers: what it names, and what it leaves alone. */
const PARTS = {
  clients: {
    about:
      'a client_id; source:operator, source:registration or source:document; unverified; or document:<host>, also document:*.<host>',
    example: 'source:registration',
  },
  apis: { about: 'the identifier of an API, all of it', example: 'https://api.example' },
  scopes: {
    about: 'the identifier of an API, = and one of its scopes',
    example: 'https://api.example=projects:read',
  },
  groups: { about: 'the id of a group', example: 'finance' },
  organizations: {
    about: 'the id of an organization, for its active members; any: those of every one',
    example: 'any',
  },
  users: { about: 'the id or the address of a user', example: 'ada@acme.test' },
} as const
type Part = keyof typeof PARTS

function listOf(part: Part) {
  return z
    .array(
      z
        .string()
        .min(1)
        .max(MAXIMA.resource.most)
        .meta({ examples: [PARTS[part].example] }),
    )
    .max(MAXIMA.accessTerms.most)
    .meta({ uniqueItems: true })
    .optional()
}

/** The rule concerns these alone; none means all. */
const only = (part: Part) => listOf(part).describe(`Only these: ${PARTS[part].about}.`)
/** The rule does not concern these. */
const except = (part: Part) => listOf(part).describe(`All except these: ${PARTS[part].about}.`)

const OF_CLIENTS = { clients: only('clients'), except_clients: except('clients') }
const OF_ACCESS = {
  apis: only('apis'),
  except_apis: except('apis'),
  scopes: only('scopes'),
  except_scopes: except('scopes'),
  sign_in: z
    .boolean()
    .optional()
    .describe(
      'Only openid and the other identity scopes, beside those APIs and scopes. So counts a request without any scope.',
    ),
  except_sign_in: z.boolean().optional().describe('All except the identity scopes.'),
}
const OF_PEOPLE = {
  groups: only('groups'),
  except_groups: except('groups'),
  users: only('users'),
  except_users: except('users'),
}
const OF_ORGANIZATIONS = { organizations: only('organizations'), except_organizations: except('organizations') }

/** The members that say which requests of which people a rule is about. A rule of an organization is about its people. */
export const OWN_TERMS = { ...OF_CLIENTS, ...OF_ACCESS, ...OF_PEOPLE }
export const SERVER_TERMS = { ...OWN_TERMS, ...OF_ORGANIZATIONS }
type Terms = { readonly [Name in keyof z.output<z.ZodObject<typeof SERVER_TERMS>>]?: string[] | boolean | undefined }

const shown = (part: Part) => z.array(z.string()).describe(`${PARTS[part].about}.`)
/** The same in an answer. */
export const SHOWN_TERMS = {
  clients: shown('clients'),
  except_clients: z.array(z.string()),
  apis: shown('apis'),
  except_apis: z.array(z.string()),
  scopes: shown('scopes'),
  except_scopes: z.array(z.string()),
  sign_in: z.boolean(),
  except_sign_in: z.boolean(),
  groups: shown('groups'),
  except_groups: z.array(z.string()),
  organizations: shown('organizations'),
  except_organizations: z.array(z.string()),
  users: shown('users'),
  except_users: z.array(z.string()),
}
export type ShownTerms = z.output<z.ZodObject<typeof SHOWN_TERMS>>

export type RuleTerms = Pick<AccessRule, 'clients' | 'access' | 'people'>

/** The terms of a rule, as answers have them. */
export function showTerms({ clients, access, people }: RuleTerms): ShownTerms {
  const of = (terms: readonly string[], kind: string): string[] =>
    terms.filter((term) => term.startsWith(`${kind}:`)).map((term) => valueOf(term).replace(' ', '='))
  const client = (terms: readonly ClientTerm[]): string[] =>
    terms.map((term) => (term.startsWith('client:') ? valueOf(term) : term))
  return {
    clients: client(clients.only),
    except_clients: client(clients.except),
    apis: of(access.only, 'api'),
    except_apis: of(access.except, 'api'),
    scopes: of(access.only, 'scope'),
    except_scopes: of(access.except, 'scope'),
    sign_in: access.only.includes('sign-in'),
    except_sign_in: access.except.includes('sign-in'),
    groups: of(people.only, 'group'),
    except_groups: of(people.except, 'group'),
    organizations: of(people.only, 'organization'),
    except_organizations: of(people.except, 'organization'),
    users: of(people.only, 'user'),
    except_users: of(people.except, 'user'),
  }
}

/**
 * Reads the terms of a rule after a change; what is not given stays as `before` has it. A rule names what exists, except clients: of an unknown
 * one the answer warns.
 *
 * @throws AdminError that names what does not exist
 */
export async function readTerms(
  context: TaskContext,
  given: Terms,
  before: RuleTerms,
  organizationId: OrganizationId | undefined,
): Promise<RuleTerms> {
  const known = showTerms(before)
  const read = async <Term extends string>(
    members: readonly (keyof ShownTerms)[],
    termOf: (part: Part, text: string) => Promise<Term>,
    signIn?: 'sign_in' | 'except_sign_in',
  ): Promise<readonly Term[]> => {
    const terms: Term[] = []
    for (const member of members) {
      const part = member.replace('except_', '') as Part
      for (const text of (given[member] ?? known[member]) as readonly string[]) terms.push(await termOf(part, text))
    }
    if (signIn !== undefined && (given[signIn] ?? known[signIn])) terms.push('sign-in' as Term)
    if (terms.length > MAXIMA.accessTerms.most)
      throw conflict(`A part of a rule names at most ${MAXIMA.accessTerms.most}.`)
    return [...new Set(terms)]
  }
  const apis = await context.store.listApis()
  const clientOf = async (_: Part, text: string): Promise<ClientTerm> => readClient(text)
  const accessOf = async (part: Part, text: string): Promise<AccessTerm> => {
    const old = [...before.access.only, ...before.access.except].find(
      (term) => valueOf(term).replace(' ', '=') === text,
    )
    return old ?? readAccess(apis, part, text)
  }
  const personOf = async (part: Part, text: string): Promise<PersonTerm> => {
    const old = [...before.people.only, ...before.people.except].find((term) => term === `${part.slice(0, -1)}:${text}`)
    return old ?? readPerson(context, part, text, organizationId)
  }
  const clients = { only: await read(['clients'], clientOf), except: await read(['except_clients'], clientOf) }
  const access = {
    only: await read(['apis', 'scopes'], accessOf, 'sign_in'),
    except: await read(['except_apis', 'except_scopes'], accessOf, 'except_sign_in'),
  }
  const people = {
    only: await read(['groups', 'organizations', 'users'], personOf),
    except: await read(['except_groups', 'except_organizations', 'except_users'], personOf),
  }
  return { clients, access, people }
}

function readClient(text: string): ClientTerm {
  if (text === 'unverified') return text
  const origin = CLIENT_SOURCES.find((one) => text === `source:${one}`)
  if (origin !== undefined) return `source:${origin}`
  if (text.startsWith('document:')) {
    const pattern = parseDomainPattern(valueOf(text), 'blocked')
    if (pattern.kind === 'refused' || pattern.pattern.includes('/'))
      throw conflictIn('clients', `"${text}" names no host of metadata documents, such as document:app.example.`, text)
    return `document:${pattern.pattern}`
  }
  if (text.startsWith('source:') || parseClientIdentifier(text) === undefined)
    throw conflictIn('clients', `"${text}" is no client_id, and none of: ${PARTS.clients.about}.`, text)
  return `client:${text}`
}

function readAccess(apis: Awaited<ReturnType<TaskContext['store']['listApis']>>, part: Part, text: string): AccessTerm {
  if (part === 'apis') {
    const api = findNamed(apis, text)
    if (api === undefined) throw conflictIn('apis', `There is no API ${text}. See "grantor api list".`, text)
    return `api:${api.resource}`
  }
  for (const { resource, scopes } of apis)
    for (const { name } of scopes) if (`${resource}=${name}` === text) return `scope:${resource} ${name}`
  throw conflictIn(
    'scopes',
    `There is no API and scope ${text}. Write <resource>=<scope>; see "grantor api list".`,
    text,
  )
}

async function readPerson(
  { store }: TaskContext,
  part: Part,
  text: string,
  organizationId: OrganizationId | undefined,
): Promise<PersonTerm> {
  switch (part) {
    case 'groups': {
      const id = parseGroupId(text)
      const own = id && organizationOfGroup(id) === undefined ? groupIdOf(id, organizationId) : id
      const isIts = organizationId === undefined || (own && organizationOfGroup(own)) === organizationId
      if (own === undefined || !isIts || (await store.findGroup(own)) === undefined)
        throw conflictIn('groups', `There is no group ${text}. See "grantor group list".`, text)
      return `group:${own satisfies GroupId}`
    }
    case 'organizations': {
      const id = parseOrganizationId(text)
      const isKnown =
        text === ANY_ORGANIZATION || (id !== undefined && (await store.findOrganization(id)) !== undefined)
      if (!isKnown) throw conflictIn('organizations', `There is no organization ${text}. See "grantor org list".`, text)
      return `organization:${text}`
    }
    default: {
      const userId = text.includes('@') ? (await store.findUserByEmail(text))?.id : parseUserId(text)
      const user = userId && (await store.findUser(userId))
      const isIts =
        organizationId === undefined ||
        (user !== undefined && (await store.findMembership({ userId: user.id, organizationId })) !== undefined)
      // The same for a user of another organization as for one who does not exist (threats.md CON-08).
      if (user === undefined || !isIts) throw conflictIn('users', `There is no user ${text}.`, text)
      return `user:${user.id}`
    }
  }
}

/** What a rule does, as one sentence. */
export function sayRule(rule: AccessRule): string {
  const { clients, access, people, require } = rule
  const level = require === undefined ? 'is not given' : `needs ${levelWord(require.level)}${ageOf(require.maxAge)}`
  const what = said(access, 'everything', (term) => (term === 'sign-in' ? 'sign-in' : valueOf(term).replace(' ', '=')))
  const where = said(clients, 'all clients', (term) => (term.startsWith('client:') ? valueOf(term) : term))
  return `For ${sayPeople(people)}, ${what} ${level} at ${where}.`
}

/** The people of a rule, as words of a sentence. */
export function sayPeople(people: AccessRule['people']): string {
  return said(people, 'everyone', (term) => (term.startsWith('group:') ? valueOf(term) : term.replace(':', ' ')))
}

function said<Term extends string>(
  { only: named, except: left }: Condition<Term>,
  all: string,
  word: (term: Term) => string,
): string {
  const first = named.length === 0 ? all : named.map(word).join(' or ')
  return left.length === 0 ? first : `${first} except ${left.map(word).join(' and ')}`
}

/** How long ago an authentication may be, as words of a sentence. */
export function ageOf(seconds: number | undefined): string {
  return seconds === undefined ? '' : ` of the last ${seconds} seconds`
}
