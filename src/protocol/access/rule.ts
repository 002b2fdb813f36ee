import * as z from 'zod'
import type { Brand, EpochMs } from '../../base/brand.ts'
import { parseJson } from '../../base/json.ts'
import type { ClientTerm } from '../client/policy.ts'
import type { AuthenticationLevel } from '../sign-in/authentication.ts'
import type { GroupId } from './group.ts'

/** The name of an access rule. Each organization has names of its own. */
export type RuleId = Brand<string, 'RuleId'>

/** All of an API, one scope of it (`scope:<resource> <scope>`, because neither has a space), or the identity scopes. */
export type AccessTerm = `api:${string}` | `scope:${string} ${string}` | 'sign-in'
export type PersonTerm = `group:${GroupId}` | `organization:${string}` | `user:${string}`

/** It matches if at least one of `only` does, or there is none, and none of `except` does. */
export interface Condition<Term extends string> {
  readonly only: readonly Term[]
  readonly except: readonly Term[]
}

export const RULE_STATES = ['on', 'report', 'off'] as const

/** What a rule demands of an authentication, as a scope does (`ScopeStepUp`). */
export interface RequiredLevel {
  readonly level: Exclude<AuthenticationLevel, 1>
  /** Seconds. undefined: any age. */
  readonly maxAge: number | undefined
}

/** What an access rule says: which part of the requests of which clients some people do not get. */
export interface AccessRule {
  readonly id: RuleId
  readonly clients: Condition<ClientTerm>
  readonly access: Condition<AccessTerm>
  readonly people: Condition<PersonTerm>
  /** The part is given at this level. undefined: at none. */
  readonly require: RequiredLevel | undefined
  /** `report`: it is counted and logged what the rule would take, and nothing is taken. */
  readonly state: (typeof RULE_STATES)[number]
  /** Said to the person. */
  readonly sentence: string | undefined
}

/** An access rule as it is stored. */
export interface AccessRuleRecord extends AccessRule {
  readonly createdAt: EpochMs
  readonly updatedAt: EpochMs
}

/** The text of a rule in the store. The members have one order, because an update compares it. */
export function ruleText({ clients, access, people, require, state, sentence }: AccessRule): string {
  const stored: z.input<typeof STORED> = {
    clients: termsOf(clients),
    access: termsOf(access),
    people: termsOf(people),
    ...(require && { require: { level: require.level, maxAge: require.maxAge } }),
    state,
    ...(sentence !== undefined && { sentence }),
  }
  return JSON.stringify(stored)
}

/** Reads what `ruleText` wrote. A rule that is not readable, as that of a later release, takes everything, so that it lets no person through. */
export function ruleOf(id: RuleId, text: string): AccessRule {
  const { data } = STORED.safeParse(parseJson(text))
  return data === undefined ? { id, ...EVERYTHING } : { id, ...data, require: data.require, sentence: data.sentence }
}

const CONDITION = z.strictObject({ only: z.array(z.string()), except: z.array(z.string()) })
const STORED = z.strictObject({
  clients: CONDITION.transform((one) => one as Condition<ClientTerm>),
  access: CONDITION.transform((one) => one as Condition<AccessTerm>),
  people: CONDITION.transform((one) => one as Condition<PersonTerm>),
  require: z
    .strictObject({ level: z.union([z.literal(2), z.literal(3)]), maxAge: z.number().optional() })
    .transform(({ level, maxAge }): RequiredLevel => ({ level, maxAge }))
    .optional(),
  state: z.enum(RULE_STATES),
  sentence: z.string().optional(),
})

const ANY = { only: [], except: [] } as const
const EVERYTHING: Omit<AccessRule, 'id'> = {
  clients: ANY,
  access: ANY,
  people: ANY,
  require: undefined,
  state: 'on',
  sentence: undefined,
}

function termsOf({ only, except }: Condition<string>): { only: string[]; except: string[] } {
  return { only: [...only], except: [...except] }
}
