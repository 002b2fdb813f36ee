import * as z from 'zod'
import type { Context, StoreNeeds } from '../ports/context.ts'
import type { DomainRuleRecord } from '../ports/records/domain-rule.ts'
import {
  DOMAIN_PATTERN_FORM,
  DOMAIN_PATTERN_LIMIT,
  DOMAIN_RULE_LIMIT,
  KNOWN_DOMAINS,
  parseDomainPattern,
  type DomainVerdict,
} from '../protocol/client/domain-rule.ts'
import { conflict, unknown } from './admin-error.ts'
import { ISO, iso, LIMIT, NAME, NEXT } from './fields.ts'
import { pageOf } from './page.ts'
import { defineTask, type Task } from './task.ts'

/**
 * Sets the verdict about domains. Running servers apply it within a second. A rule that exists for a pattern is replaced.
 *
 * @throws AdminError when a pattern cannot have the verdict, or there would be too many rules
 */
export async function setDomainRules(
  { store, clock }: StoreNeeds<'listDomainRules' | 'setDomainRule'> & Pick<Context, 'clock'>,
  texts: readonly string[],
  { verdict, note }: Pick<DomainRuleRecord, 'verdict' | 'note'>,
): Promise<readonly DomainRuleRecord[]> {
  const patterns = texts.map((text) => requirePattern(text, verdict))
  const existing = (await store.listDomainRules()).map(({ pattern }) => pattern)
  if (new Set([...existing, ...patterns]).size > DOMAIN_RULE_LIMIT) {
    throw conflict(`There are rules for ${existing.length} domains. A server has at most ${DOMAIN_RULE_LIMIT}.`)
  }
  const rules = patterns.map((pattern) => ({ pattern, verdict, note, changedAt: clock() }))
  await Promise.all(rules.map((rule) => store.setDomainRule(rule)))
  return rules
}

function requirePattern(text: string, verdict: DomainVerdict): string {
  const read = parseDomainPattern(text, verdict)
  if (read.kind === 'refused') throw conflict(`"${text}" ${read.reason}.`)
  return read.pattern
}

/** Removes the rule of a pattern, and returns the pattern. @throws AdminError when there is no such rule */
export async function forgetDomain({ store }: StoreNeeds<'removeDomainRule'>, text: string): Promise<string> {
  const read = parseDomainPattern(text, 'blocked')
  const pattern = read.kind === 'pattern' ? read.pattern : text
  if ((await store.removeDomainRule(pattern)) === 'removed') return pattern
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
  .describe('A host, `*.` and a host for all hosts below it, or the URL of a client metadata document.')
const NOTE = NAME.optional().describe('A note for other administrators.')

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

export type DomainDocument = z.output<typeof DOMAIN_DOCUMENT>

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
    input: z.object({
      pattern: PATTERN.optional(),
      known: z
        .literal(true)
        .meta({ examples: [true] })
        .optional()
        .describe(`The domains of widespread clients instead of a pattern: ${KNOWN_DOMAINS.join(', ')}.`),
      note: NOTE,
    }),
    output: DOMAIN_DOCUMENTS,
    async run(context, { pattern, note }) {
      const patterns = pattern === undefined ? KNOWN_DOMAINS : [pattern]
      return { domains: (await setDomainRules(context, patterns, { verdict: 'trusted', note })).map(describeRule) }
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
    input: z.object({ pattern: PATTERN, note: NOTE }),
    output: DOMAIN_DOCUMENTS,
    run: async (context, { pattern, note }) => ({
      domains: (await setDomainRules(context, [pattern], { verdict: 'blocked', note })).map(describeRule),
    }),
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
    }),
    output: z.object({ pattern: z.string(), forgotten: z.literal(true) }),
    run: async (context, { pattern }) => ({ pattern: await forgetDomain(context, pattern), forgotten: true as const }),
  }),
]

function describeRule({ pattern, verdict, note, changedAt }: DomainRuleRecord): DomainDocument {
  return { pattern, verdict, note: note ?? null, changed_at: iso(changedAt) }
}
