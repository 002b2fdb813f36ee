import { orNull } from '../protocol/null-meaning.ts'
import * as z from 'zod'
import type { Context } from '../ports/context.ts'
import type { DomainRuleRecord } from '../ports/records/domain-rule.ts'
import {
  DOMAIN_PATTERN_FORM,
  DOMAIN_PATTERN_LIMIT,
  DOMAIN_RULE_LIMIT,
  KNOWN_DOMAINS,
  parseDomainPattern,
  type DomainVerdict,
} from '../protocol/client/domain-rule.ts'
import { conflict, unknown, type AdminError } from './admin-error.ts'
import { requireLasting } from './administrators.ts'
import { ISO, iso } from '../base/iso.ts'
import { LIMIT, NAME, NEXT } from './fields.ts'
import { pageOf } from './page.ts'
import { defineTask, type Task } from './task.ts'

/** A rule that was set, and the one with its pattern that it replaced. */
interface ReplacedRule {
  readonly rule: DomainRuleRecord
  readonly previous: DomainRuleRecord | undefined
}

/**
 * Sets the verdict about domains. Running servers apply it within a second. A rule that exists for a pattern is replaced.
 *
 * @throws AdminError when a pattern cannot have the verdict, there would be too many rules, or a rule is not the one of `previousAt`
 */
export async function setDomainRules(
  { store, clock }: Context,
  texts: readonly string[],
  { verdict, note }: Pick<DomainRuleRecord, 'verdict' | 'note'>,
  previousAt?: string | null,
): Promise<readonly ReplacedRule[]> {
  const patterns = texts.map((text) => requirePattern(text, verdict))
  const existing = await store.listDomainRules()
  if (new Set([...existing.map(({ pattern }) => pattern), ...patterns]).size > DOMAIN_RULE_LIMIT) {
    throw conflict(`There are rules for ${existing.length} domains. A server has at most ${DOMAIN_RULE_LIMIT}.`)
  }
  const rules = patterns.map((pattern) => ({ pattern, verdict, note, changedAt: clock() }))
  const changes = rules.map((rule) => ({ ...rule, previous: requireSame(existing, rule.pattern, previousAt) }))
  const outcomes = await Promise.all(changes.map((change) => store.setDomainRule(change)))
  const changed = rules.find((_, index) => outcomes[index] === 'conflict')
  if (changed !== undefined) throw changedMeanwhile(changed.pattern)
  return rules.map((rule) => ({ rule, previous: existing.find(({ pattern }) => pattern === rule.pattern) }))
}

/** The rule of a pattern, which the store compares once more; null: none. undefined: whichever there is. */
function requireSame(
  rules: readonly DomainRuleRecord[],
  pattern: string,
  previousAt: string | null | undefined,
): DomainRuleRecord | null | undefined {
  if (previousAt === undefined) return undefined
  const rule = rules.find((one) => one.pattern === pattern) ?? null
  if ((rule?.changedAt ?? null) !== (previousAt === null ? null : Date.parse(previousAt)))
    throw changedMeanwhile(pattern)
  return rule
}

function changedMeanwhile(pattern: string): AdminError {
  return conflict(`The rule for ${pattern} was changed meanwhile. See "grantor domain list", and try again.`)
}

function requirePattern(text: string, verdict: DomainVerdict): string {
  const read = parseDomainPattern(text, verdict)
  if (read.kind === 'refused') throw conflict(`"${text}" ${read.reason}.`)
  return read.pattern
}

/** Removes the rule of a pattern, and returns the pattern. @throws AdminError when there is no such rule, or not the one of `previousAt` */
export async function forgetDomain({ store }: Context, text: string, previousAt?: string): Promise<string> {
  const read = parseDomainPattern(text, 'blocked')
  const pattern = read.kind === 'pattern' ? read.pattern : text
  const rules = previousAt === undefined ? [] : await store.listDomainRules()
  const previous = requireSame(rules, pattern, previousAt) ?? undefined
  const outcome = await store.removeDomainRule({ pattern, previous })
  if (outcome === 'removed') return pattern
  if (outcome === 'conflict') throw changedMeanwhile(pattern)
  throw unknown(`There is no rule for ${text}. See "grantor domain list".`)
}

const PATH = '/admin/v1/domains'
const PATTERN = z
  .string()
  .max(DOMAIN_PATTERN_LIMIT)
  .regex(DOMAIN_PATTERN_FORM, {
    error: 'This is neither a host such as app.example, nor *.app.example, nor the https URL of a document.',
  })
  .meta({ examples: ['app.example'] })
  .describe(
    'A host, `*.` and a host for all hosts below it but not the host itself, or the URL of a client metadata document.',
  )
const NOTE = NAME.optional().describe('A note for other administrators.')

const PREVIOUS = ISO.meta({ examples: ['2026-01-01T00:00:00.000Z'] })
const PREVIOUS_OR_NONE = orNull(
  ISO,
  'The `changed_at` of the rule so far. If there is another one, nothing is changed.',
  'there is none',
).meta({ examples: [null] })

/** A rule for a domain in an answer. */
const DOMAIN_DOCUMENT = z
  .object({
    pattern: z.string(),
    verdict: z.enum(['trusted', 'blocked']),
    note: z.string().nullable(),
    changed_at: ISO.describe('When the rule was set.'),
  })
  .meta({ id: 'DomainRule' })
const DOMAIN_DOCUMENTS = z.object({ domains: z.array(DOMAIN_DOCUMENT) })
const SET_DOMAIN_DOCUMENTS = z.object({
  domains: z.array(
    DOMAIN_DOCUMENT.extend({
      previous: DOMAIN_DOCUMENT.nullable().describe('The rule that was replaced; null: there was none.'),
    }).meta({ id: 'SetDomainRule' }),
  ),
})

export type DomainDocument = z.output<typeof DOMAIN_DOCUMENT>
export type SetDomainDocuments = z.output<typeof SET_DOMAIN_DOCUMENTS>

export const DOMAIN_TASKS: readonly Task[] = [
  defineTask({
    name: 'domain.list',
    method: 'GET',
    path: PATH,
    access: 'read',
    summary: 'List the trusted and blocked domains.',
    input: z.object({ limit: LIMIT, before: PATTERN.optional().describe('Continue after this pattern.') }),
    output: DOMAIN_DOCUMENTS.extend({ next: NEXT }),
    async run({ store }, page) {
      const { rows, next } = pageOf(await store.listDomainRules(), ({ pattern }) => pattern, page)
      return { domains: rows.map(describeRule), next }
    },
  }),
  defineTask({
    name: 'domain.trust',
    method: 'POST',
    path: `${PATH}/trust`,
    access: 'write',
    summary: 'Trust a domain: clients whose redirect and logout URIs are all of trusted domains are shown as known.',
    exactlyOneOf: ['pattern', 'known'],
    undo: 'domain.forget',
    already: ({ verdict }) => verdict === 'trusted',
    input: z.object({
      pattern: PATTERN.optional(),
      known: z
        .literal(true)
        .meta({ examples: [true] })
        .optional()
        .describe(`The domains of widespread clients instead of a pattern: ${KNOWN_DOMAINS.join(', ')}.`),
      note: NOTE,
      previous_changed_at: PREVIOUS_OR_NONE,
    }),
    output: SET_DOMAIN_DOCUMENTS,
    async run(context, { pattern, note, previous_changed_at: previousAt }) {
      requireLasting(context.administrator, 'trust a domain')
      const patterns = pattern === undefined ? KNOWN_DOMAINS : [pattern]
      const rules = await setDomainRules(context, patterns, { verdict: 'trusted', note }, previousAt)
      return { domains: rules.map(describeReplaced) }
    },
  }),
  defineTask({
    name: 'domain.block',
    method: 'POST',
    path: `${PATH}/block`,
    access: 'write',
    // It takes rights away, whatever the time is.
    anyClock: true,
    summary: 'Block a domain: its clients can neither register nor start an authorization. Tokens stay valid.',
    undo: 'domain.forget',
    already: ({ verdict }) => verdict === 'blocked',
    input: z.object({ pattern: PATTERN, note: NOTE, previous_changed_at: PREVIOUS_OR_NONE }),
    output: SET_DOMAIN_DOCUMENTS,
    async run(context, { pattern, note, previous_changed_at: previousAt }) {
      const rules = await setDomainRules(context, [pattern], { verdict: 'blocked', note }, previousAt)
      return { domains: rules.map(describeReplaced) }
    },
  }),
  defineTask({
    name: 'domain.forget',
    method: 'DELETE',
    path: `${PATH}/{pattern}`,
    access: 'write',
    // To forget that a domain is blocked gives rights back.
    anyClock: false,
    summary: 'Remove the rule of a domain, which is then neither trusted nor blocked.',
    input: z.object({
      pattern: z
        .string()
        .min(1)
        .meta({ examples: ['app.example'] })
        .describe('The pattern, as "domain list" shows it.'),
      previous_changed_at: PREVIOUS.optional().describe(
        'The `changed_at` of the rule. If there is another one, nothing is changed.',
      ),
    }),
    output: z.object({ pattern: z.string(), forgotten: z.literal(true) }),
    async run(context, { pattern, previous_changed_at: previousAt }) {
      return { pattern: await forgetDomain(context, pattern, previousAt), forgotten: true as const }
    },
  }),
]

function describeReplaced({ rule, previous }: ReplacedRule): SetDomainDocuments['domains'][number] {
  return { ...describeRule(rule), previous: previous === undefined ? null : describeRule(previous) }
}

function describeRule({ pattern, verdict, note, changedAt }: DomainRuleRecord): DomainDocument {
  return { pattern, verdict, note: note ?? null, changed_at: iso(changedAt) }
}
