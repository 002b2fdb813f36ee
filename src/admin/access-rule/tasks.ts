import * as z from 'zod'
import { iso, ISO } from '../../base/iso.ts'
import { MAXIMA } from '../../base/maxima.ts'
import { levelWord } from '../../protocol/sign-in/acr.ts'
import { concernsApi, concernsClient, valueOf } from '../../protocol/access/judge.ts'
import {
  RULE_STATES,
  type AccessRule,
  type AccessRuleRecord,
  type RuleId,
  ruleText,
} from '../../protocol/access/rule.ts'
import { parseClientIdentifier } from '../../protocol/client/identifier.ts'
import { CHOSEN_ID_FORM, type ClientId, isChosenId, type OrganizationId } from '../../protocol/ids.ts'
import { type ClientTerm, ruledClient } from '../../protocol/client/policy.ts'
import { orNull } from '../../protocol/null-meaning.ts'
import { type AdminError, conflict, unknown } from '../admin-error.ts'
import { CLIENT_ID, LIMIT, NAME, NEXT, RESOURCE } from '../fields.ts'
import { describeJwtAcceptance, findJwtAcceptance, JWT_ACCEPTANCE } from '../jwt-acceptance.ts'
import { bothTasks } from '../organization/both-tasks.ts'
import { requireOrganization } from '../organization/organization.ts'
import { hasText, pageOf } from '../page.ts'
import type { Task, TaskContext } from '../task.ts'
import { CONCERNED, listConcerned } from './concerned-grants.ts'
import { OWN_TERMS, readTerms, type RuleTerms, sayRule, SERVER_TERMS, SHOWN_TERMS, showTerms } from './terms.ts'

const NOT_AN_ID = {
  error:
    'The id of a rule has up to 64 of the characters A–Z a–z 0–9 . _ ~ | : = -, and begins with a letter or a digit.',
}
const RULE_ID = z
  .string()
  .regex(CHOSEN_ID_FORM, { ...NOT_AN_ID, abort: true })
  .refine(isChosenId, NOT_AN_ID)
  .meta({ examples: ['payments'] })
  .transform((text) => text as RuleId)
  .describe('The id of the rule. It never changes.')

const LEVELS = ['none', '2fa', 'phr'] as const
const EFFECT = {
  require: z
    .enum(LEVELS)
    .optional()
    .describe(
      'Gives it at this level instead of leaving it out: 2fa, two factors; phr, a passkey, or one beside another method.',
    ),
  max_age: z
    .int()
    .min(0)
    .max(31_536_000)
    .optional()
    .describe('With `require`: the greatest age of the authentication, in seconds. 0: any.'),
  state: z
    .enum(RULE_STATES)
    .optional()
    .describe('on, the default; report: it is only logged and counted what the rule would take; off.'),
  sentence: orNull(
    NAME,
    'Said to the person from whom the rule takes something, in the language of the users.',
    'nothing is said',
  ),
}

/** A rule in an answer. */
const RULE = z
  .object({
    rule_id: z.string(),
    organization_id: z.string().nullable().describe('The organization that has the rule; null: the server has it.'),
    reads: z.string().describe('What the rule does, as one sentence.'),
    ...SHOWN_TERMS,
    require: z.enum(LEVELS),
    max_age: z.int().nullable(),
    state: z.enum(RULE_STATES),
    sentence: z.string().nullable(),
    created_at: ISO,
    updated_at: ISO,
  })
  .meta({ id: 'AccessRule' })
const SHOWN_RULE = RULE.extend(CONCERNED).meta({ id: 'ShownAccessRule' })
const CHANGED_RULE = RULE.extend({
  notice: z.string().nullable().describe('What the rule names and the server does not know; null: nothing.'),
  ...JWT_ACCEPTANCE,
}).meta({ id: 'ChangedAccessRule' })

export type AccessRuleDocument = z.output<typeof RULE>
export type ShownAccessRule = z.output<typeof SHOWN_RULE>

/** Where rules are: those of the server, or those of one organization. */
interface Place {
  readonly list: () => Promise<readonly AccessRuleRecord[]>
  /** @throws AdminError when the rules were changed at the same time, or there are too many */
  readonly set: (rule: AccessRuleRecord, previous: AccessRuleRecord | undefined) => Promise<void>
  readonly remove: (rule: AccessRuleRecord) => Promise<void>
  readonly organizationId: OrganizationId | undefined
}

function placeOf(context: TaskContext, organizationId: OrganizationId | undefined): Place {
  return organizationId === undefined ? ofServer(context) : ofOrganization(context, organizationId)
}

function ofServer({ store }: TaskContext): Place {
  return {
    organizationId: undefined,
    list: store.listAccessRules,
    async set(rule, previous) {
      switch (await store.setAccessRule({ rule, previous })) {
        case 'stored':
          return
        case 'id-taken':
          throw conflict(`There is already an access rule ${rule.id}.`)
        case 'conflict':
          throw meanwhile(rule.id)
        case 'too-many':
          throw conflict(`The server has ${MAXIMA.accessRules.most} access rules, which is the maximum.`)
      }
    },
    async remove({ id }) {
      if ((await store.deleteAccessRule({ id })) === 'unknown') throw noSuchRule(id)
    },
  }
}

function ofOrganization(context: TaskContext, id: OrganizationId): Place {
  const { store } = context
  const list = async () => (await requireOrganization(context, id)).accessRules
  const replace = async (
    about: RuleId,
    change: (previous: readonly AccessRuleRecord[]) => readonly AccessRuleRecord[],
  ): Promise<void> => {
    const previous = await list()
    const rules = change(previous)
    if (rules.length > MAXIMA.accessRulesOfOrganization.most)
      throw conflict(
        `The organization has ${MAXIMA.accessRulesOfOrganization.most} access rules, which is the maximum.`,
      )
    if (rules.reduce((bytes, rule) => bytes + sizeOf(rule), 0) > MAXIMA.accessRule.most)
      throw conflict(`All access rules of an organization have at most ${MAXIMA.accessRule.most} bytes.`)
    if ((await store.setOrganizationRules({ id, rules, previous })) === 'conflict') throw meanwhile(about)
  }
  return {
    organizationId: id,
    list,
    set: (rule, before) =>
      replace(rule.id, (rules) => {
        const known = rules.find((one) => one.id === rule.id)
        if (before === undefined && known !== undefined) throw conflict(`There is already an access rule ${rule.id}.`)
        if (before !== undefined && (known === undefined || ruleText(known) !== ruleText(before)))
          throw meanwhile(rule.id)
        return [...rules.filter((one) => one !== known), rule].toSorted((one, other) => (one.id < other.id ? -1 : 1))
      }),
    remove: ({ id: gone }) => replace(gone, (rules) => rules.filter((one) => one.id !== gone)),
  }
}

function sizeOf(rule: AccessRule): number {
  return Buffer.byteLength(ruleText(rule))
}

const ONE = z.object({ rule_id: RULE_ID })
const LIST_INPUT = z.object({
  limit: LIMIT,
  before: RULE_ID.optional().describe('Continue after this rule.'),
  text: NAME.optional().describe('Only rules with this text in their id, in what they do, or in their sentence.'),
})
const SERVER_LIST_INPUT = LIST_INPUT.extend({
  client_id: CLIENT_ID.optional().describe('Only rules that concern this client.'),
  resource: RESOURCE.optional().describe('Only rules that concern this API.'),
})
const ANY = { only: [], except: [] }
const NOTHING_NAMED: RuleTerms = { clients: ANY, access: ANY, people: ANY }

export const ACCESS_RULE_TASKS: readonly Task[] = [
  ...bothTasks('access-rule', {
    verb: 'list',
    method: 'GET',
    path: '',
    access: 'read-people',
    summary: 'List the access rules.',
    input: SERVER_LIST_INPUT,
    own: LIST_INPUT,
    output: z.object({ access_rules: z.array(RULE), next: NEXT }),
    async run(context, { text, client_id: clientId, resource, ...page }, organizationId) {
      const client = clientId && (await termsOfClient(context, clientId))
      const meant = (await placeOf(context, organizationId).list()).filter(
        (rule) =>
          (client === undefined || concernsClient(rule, client)) &&
          (resource === undefined || concernsApi(rule, resource)) &&
          (text === undefined || hasText(text, rule.id, sayRule(rule), rule.sentence)),
      )
      const { rows, next } = pageOf(meant, ({ id }) => id, page)
      return { access_rules: rows.map((rule) => describe(rule, organizationId)), next }
    },
  }),
  ...bothTasks('access-rule', {
    verb: 'create',
    method: 'POST',
    path: '',
    access: 'write',
    creates: true,
    summary: 'Create an access rule, which takes a part of what clients can get away from some people.',
    input: ONE.extend({ ...SERVER_TERMS, ...EFFECT }),
    own: ONE.extend({ ...OWN_TERMS, ...EFFECT }),
    output: CHANGED_RULE,
    async run(context, { rule_id: id, ...given }, organizationId) {
      const place = placeOf(context, organizationId)
      const now = context.clock()
      const before = { ...NOTHING_NAMED, require: undefined, state: 'on', sentence: undefined } as const
      const rule = { ...(await readRule(context, given, { id, ...before }, place)), createdAt: now, updatedAt: now }
      await place.set(rule, undefined)
      return changed(context, rule, place)
    },
  }),
  ...bothTasks('access-rule', {
    verb: 'show',
    method: 'GET',
    path: '/{rule_id}',
    access: 'read-people',
    summary: 'Show an access rule, and grants that it is about.',
    input: ONE,
    own: ONE,
    output: SHOWN_RULE,
    async run(context, { rule_id: id }, organizationId) {
      const rule = await requireRule(placeOf(context, organizationId), id)
      return { ...describe(rule, organizationId), ...(await listConcerned(context, rule, organizationId)) }
    },
  }),
  ...bothTasks('access-rule', {
    verb: 'update',
    method: 'PATCH',
    path: '/{rule_id}',
    access: 'write',
    undo: 'update',
    needsRecentSignIn: true,
    summary: 'Change an access rule. A list that is given replaces the one that the rule has; what is not given stays.',
    input: ONE.extend({ ...SERVER_TERMS, ...EFFECT }),
    own: ONE.extend({ ...OWN_TERMS, ...EFFECT }),
    output: CHANGED_RULE,
    async run(context, { rule_id: id, ...given }, organizationId) {
      const place = placeOf(context, organizationId)
      const previous = await requireRule(place, id)
      const { createdAt } = previous
      const rule = { ...(await readRule(context, given, previous, place)), createdAt, updatedAt: context.clock() }
      await place.set(rule, previous)
      return changed(context, rule, place)
    },
  }),
  ...bothTasks('access-rule', {
    verb: 'delete',
    method: 'DELETE',
    path: '/{rule_id}',
    access: 'write',
    summary: 'Delete an access rule. What it took is given again with the next token.',
    input: ONE,
    own: ONE,
    output: z.object({ rule_id: z.string(), organization_id: z.string().nullable(), deleted: z.literal(true) }),
    async run(context, { rule_id: id }, organizationId) {
      const place = placeOf(context, organizationId)
      await place.remove(await requireRule(place, id))
      return { rule_id: id, organization_id: organizationId ?? null, deleted: true as const }
    },
  }),
]

type Given = Partial<z.output<z.ZodObject<typeof SERVER_TERMS & typeof EFFECT>>>

/** @throws AdminError when the rule names what does not exist, or nothing, or is too long */
async function readRule(
  context: TaskContext,
  { require: level, max_age: maxAge, state, sentence, ...terms }: Given,
  before: AccessRule,
  { organizationId }: Place,
): Promise<AccessRule> {
  const named = await readTerms(context, terms, before, organizationId)
  const wanted = level ?? (before.require === undefined ? 'none' : levelWord(before.require.level))
  const age = maxAge ?? before.require?.maxAge ?? 0
  if (wanted === 'none' && maxAge !== undefined && maxAge > 0)
    throw conflict('An age needs the level: --require 2fa or phr.')
  const rule: AccessRule = {
    id: before.id,
    ...named,
    require: wanted === 'none' ? undefined : { level: wanted === 'phr' ? 3 : 2, maxAge: age === 0 ? undefined : age },
    state: state ?? before.state,
    sentence: sentence === undefined ? before.sentence : (sentence ?? undefined),
  }
  const isEmpty = [named.clients, named.access, named.people].every(
    ({ only, except }) => only.length + except.length === 0,
  )
  if (isEmpty && rule.require === undefined)
    throw conflict('The rule names no client, no access and no person: it would take everything from everyone.')
  if (sizeOf(rule) > MAXIMA.accessRule.most)
    throw conflict(`An access rule has at most ${MAXIMA.accessRule.most} bytes.`)
  return rule
}

async function changed(
  context: TaskContext,
  rule: AccessRuleRecord,
  { organizationId }: Place,
): Promise<z.output<typeof CHANGED_RULE>> {
  // Another state takes nothing, so no API accepts too much.
  const acceptance =
    rule.state === 'on'
      ? await findJwtAcceptance(context, { endedAt: context.clock(), resources: undefined })
      : describeJwtAcceptance(context, undefined)
  return { ...describe(rule, organizationId), notice: await findNotice(context, rule), ...acceptance }
}

/** What rules call a client. One that the server does not know may be named by its id. */
async function termsOfClient({ store }: TaskContext, id: ClientId): Promise<readonly ClientTerm[]> {
  const client = await store.findClient(id)
  return client === undefined ? [`client:${id}`] : ruledClient(client)
}

async function findNotice({ store }: TaskContext, { clients }: AccessRule): Promise<string | null> {
  const missing: string[] = []
  for (const term of [...clients.only, ...clients.except]) {
    const client = term.startsWith('client:') ? parseClientIdentifier(valueOf(term)) : undefined
    if (client !== undefined && (await store.findClient(client.id)) === undefined) missing.push(valueOf(term))
  }
  return missing.length === 0 ? null : `The server knows no client ${missing.join(', ')}.`
}

async function requireRule({ list }: Place, id: RuleId): Promise<AccessRuleRecord> {
  const rule = (await list()).find((one) => one.id === id)
  if (rule === undefined) throw noSuchRule(id)
  return rule
}

function noSuchRule(id: RuleId): AdminError {
  return unknown(`There is no access rule ${id}. See "grantor access-rule list".`)
}

function meanwhile(id: RuleId): AdminError {
  return conflict(`The access rule ${id} was changed or deleted at the same time. Try again.`)
}

function describe(rule: AccessRuleRecord, organizationId: OrganizationId | undefined): AccessRuleDocument {
  const { id, require, state, sentence, createdAt, updatedAt } = rule
  return {
    rule_id: id,
    organization_id: organizationId ?? null,
    reads: sayRule(rule),
    ...showTerms(rule),
    require: require === undefined ? 'none' : levelWord(require.level),
    max_age: require?.maxAge ?? null,
    state,
    sentence: sentence ?? null,
    created_at: iso(createdAt),
    updated_at: iso(updatedAt),
  }
}
