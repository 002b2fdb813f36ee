import { orNull } from '../../protocol/null-meaning.ts'
import {
  allTexts,
  localizedText,
  TEXT_LANGUAGES,
  textsByLanguage,
  type LocalizedText,
} from '../../base/localized-text.ts'
import * as z from 'zod'
import type { ApiRecord, ApiScope, ApiTokens } from '../../ports/records/api.ts'
import { LIMIT, localized, NAME, NAME_OR_NONE, NEXT, RESOURCE, SCOPE, SCOPE_NAME } from '../fields.ts'
import { conflict } from '../admin-error.ts'
import { groupClaimFrom, GROUP_CLAIM, GROUP_WORDS } from '../group/group-claim.ts'
import { hasText, pageOf } from '../page.ts'
import { defineTask, type Task, type TaskContext } from '../task.ts'
import {
  algorithmNotice,
  createApi,
  createApiCredentials,
  EXCHANGE_LIMIT,
  exchangeNotice,
  groupsNotice,
  LIFETIME_LIMIT,
  requireApi,
  SCOPE_LIMIT,
  SERVER_TOKENS,
  sharedNotice,
  unknownApi,
  updateApi,
  type ApiDeclaration,
} from './api.ts'
import {
  API,
  API_DOCUMENT,
  KEPT_API_DOCUMENT,
  MAX_AGE,
  MAX_AGE_TEXT,
  SCOPE_DOCUMENT,
  STEP_UP,
  TOKENS_DOCUMENT,
  type KeptApiDocument,
} from './document.ts'

const PATH = '/admin/v1/apis'
/** The input of a task about one API. An identifier that no API has is reported as unknown. */
const ONE = z.object({
  resource: z
    .string()
    .min(1)
    .meta({ examples: ['https://api.example'] })
    .describe('The identifier of the API.'),
})

const MAX_AGE_INPUT = orNull(MAX_AGE, `${MAX_AGE_TEXT}.`, 'any age')
const STEP_UP_INPUT = STEP_UP.extend({ max_age: MAX_AGE_INPUT }).strict()

/** What is not given does not change. */
const TOKENS_INPUT = z
  .strictObject({
    ...TOKENS_DOCUMENT.partial().shape,
    lifetime: orNull(
      z.int().min(1).max(LIFETIME_LIMIT),
      `Seconds, up to ${LIFETIME_LIMIT.toLocaleString('en')}.`,
      'the lifetime of the server',
    ),
  })
  .refine(({ format, algorithm }) => format !== 'opaque' || typeof algorithm !== 'string', {
    error: 'Opaque tokens are not signed: leave the algorithm out.',
  })
  .refine(({ format, jwt_type }) => format !== 'opaque' || jwt_type !== 'JWT', {
    error: 'Opaque tokens are not JWTs: leave the type out.',
  })
  .meta({
    not: {
      anyOf: [
        {
          properties: { format: { const: 'opaque' }, algorithm: { type: 'string' } },
          required: ['format', 'algorithm'],
        },
        { properties: { format: { const: 'opaque' }, jwt_type: { const: 'JWT' } }, required: ['format', 'jwt_type'] },
      ],
    },
  })
const SCOPE_INPUT = SCOPE_DOCUMENT.extend({
  name: SCOPE_NAME.describe('The name of the scope.'),
  sentence: localized().describe('The text of the scope on the consent page.'),
  step_up: orNull(
    STEP_UP_INPUT,
    'What the scope requires of the authentication of the user. Absent: a scope that the API has already keeps its requirement.',
    'nothing',
  ),
}).strict()
const INPUT = {
  name: localized().optional().describe('The name of the API, as the pages show it.'),
  scopes: z
    .array(SCOPE_INPUT)
    .max(SCOPE_LIMIT)
    .meta({ uniqueItems: true })
    .optional()
    .describe('All scopes of the API. Each has a different name.'),
  step_up: z
    .array(
      z.strictObject({
        scope: SCOPE_NAME,
        level: z.enum(['none', '2fa', 'phr']),
        max_age: MAX_AGE_INPUT,
      }),
    )
    .max(SCOPE_LIMIT)
    .optional()
    .describe('What scopes of the API require; those that are not named do not change.'),
  texts: z
    .array(
      z.strictObject({
        language: z.enum(TEXT_LANGUAGES),
        scope: SCOPE_NAME.optional().describe('The scope whose sentence it is; absent: it is the name of the API.'),
        text: NAME_OR_NONE,
      }),
    )
    .max(SCOPE_LIMIT)
    .optional()
    .describe(
      'Texts in one language, beside those that the API has: of scopes, or the name. An empty text removes the one that there is. `default`: the text of every other language.',
    ),
  exchange: z
    .array(z.strictObject({ resource: RESOURCE, scope: SCOPE }))
    .max(EXCHANGE_LIMIT)
    .optional()
    .describe(
      'From which APIs a token can be exchanged for one of this API, with the most that it has; empty scope: from none. Those that are not named do not change.',
    ),
  groups: GROUP_CLAIM.optional().describe(
    'The claim of its tokens in which the API reads the groups of users, where it is the only API of the token. A new API reads none.',
  ),
  group_words: GROUP_WORDS.optional(),
  tokens: TOKENS_INPUT.optional().describe('The format, lifetime, algorithm and type of its access tokens.'),
}
const UPDATE_INPUT = ONE.extend({
  ...INPUT,
  name: localized(NAME_OR_NONE).optional().describe('The name of the API; empty: none.'),
})

export const API_TASKS: readonly Task[] = [
  defineTask({
    name: 'api.list',
    method: 'GET',
    path: PATH,
    access: 'read',
    summary: 'List the declared APIs and their scopes.',
    input: z.object({
      limit: LIMIT,
      before: RESOURCE.optional().describe('Continue after this API.'),
      name: NAME.optional().describe(
        'Only APIs with this text in the name, the identifier, or the name or sentence of a scope, in any case.',
      ),
    }),
    output: z.object({ apis: z.array(API_DOCUMENT), next: NEXT }),
    async run({ store }, { name, ...page }) {
      const isMeant = (api: ApiRecord) => name === undefined || hasText(name, ...textsOf(api))
      const { rows, next } = pageOf((await store.listApis()).filter(isMeant), ({ resource }) => resource, page)
      return { apis: rows.map(API.show), next }
    },
  }),
  defineTask({
    name: 'api.show',
    method: 'GET',
    path: `${PATH}/{resource}`,
    access: 'read',
    summary: 'Show an API, its scopes and the settings of its tokens.',
    input: ONE,
    output: API_DOCUMENT,
    run: async (context, { resource }) => API.show(await requireApi(context, resource)),
  }),
  defineTask({
    name: 'api.create',
    method: 'POST',
    path: PATH,
    access: 'write',
    creates: true,
    summary: 'Declare an API and its scopes.',
    input: z.object({ resource: RESOURCE, ...INPUT }),
    output: KEPT_API_DOCUMENT,
    async run(context, { resource, name, scopes = [], step_up, texts, exchange = [], tokens = {}, ...given }) {
      const declared = withTexts({ name, scopes: withStepUps(scopesOf(scopes, []), step_up) }, texts)
      const groups = groupClaimFrom(undefined, { groups: given.groups, words: given.group_words })
      const declaration = { resource, ...declared, exchange, tokens: tokensOf(SERVER_TOKENS, tokens), groups }
      return describeKept(context, await createApi(context, declaration))
    },
  }),
  defineTask({
    name: 'api.update',
    method: 'PATCH',
    path: `${PATH}/{resource}`,
    access: 'write',
    summary: 'Change an API. Issued tokens stay valid.',
    needsRecentSignIn: true,
    input: UPDATE_INPUT,
    output: KEPT_API_DOCUMENT,
    async run(context, { resource, name, scopes, step_up, texts, exchange, tokens, groups, group_words: words }) {
      const before = await requireApi(context, resource)
      const isOfScopes = scopes !== undefined || step_up !== undefined || texts !== undefined
      const given = {
        name: name ?? before.name,
        scopes: withStepUps(scopes === undefined ? before.scopes : scopesOf(scopes, before.scopes), step_up),
      }
      const worded = withTexts(given, texts)
      const change = {
        name: name === undefined && texts === undefined ? undefined : (worded.name ?? ''),
        scopes: isOfScopes ? worded.scopes : undefined,
        tokens: tokens === undefined ? undefined : tokensOf(before.tokens, tokens),
        exchange,
        groups: { claim: groupClaimFrom(before.groups, { groups, words }) },
      }
      return describeKept(context, await updateApi(context, before, change))
    },
  }),
  defineTask({
    name: 'api.delete',
    method: 'DELETE',
    path: `${PATH}/{resource}`,
    access: 'write',
    summary: 'Delete an API. No more tokens are issued for it.',
    input: ONE,
    output: z.object({ resource: z.string(), deleted: z.literal(true) }),
    async run({ store }, { resource: given }) {
      const { resource } = await requireApi({ store }, given)
      if ((await store.deleteApi(resource)) === 'unknown') throw unknownApi(given)
      return { resource, deleted: true as const }
    },
  }),
  defineTask({
    name: 'api.create-credentials',
    method: 'POST',
    path: `${PATH}/{resource}/credentials`,
    access: 'write',
    creates: true,
    summary:
      'Create the credentials with which an API introspects and exchanges tokens. Its previous credentials stop working.',
    secret: { member: 'secret', beside: ['id'] },
    input: ONE,
    output: z.object({ resource: z.string(), id: z.string(), secret: z.string().describe('Shown once.') }),
    run: (context, { resource }) => createApiCredentials(context, resource),
  }),
]

/** What a person may look for. */
function textsOf({ resource, name = '', scopes }: ApiRecord): readonly string[] {
  return [...allTexts(name), resource, ...scopes.flatMap((scope) => [scope.name, ...allTexts(scope.sentence)])]
}

function scopesOf(scopes: readonly z.output<typeof SCOPE_INPUT>[], before: readonly ApiScope[]): readonly ApiScope[] {
  return scopes.map(({ name, sentence, granted_to, step_up }) => {
    const scope = { name, sentence, grantedTo: granted_to }
    if (step_up !== undefined) return stepUpBy(scope, step_up)
    const stepUp = before.find((one) => one.name === name)?.stepUp
    return stepUp === undefined ? scope : { ...scope, stepUp }
  })
}

/** @throws AdminError when the API has no such scope, or a scope is named twice */
function withStepUps(
  scopes: readonly ApiScope[],
  stepUps: readonly {
    readonly scope: string
    readonly level: 'none' | '2fa' | 'phr'
    readonly max_age?: number | null | undefined
  }[] = [],
): readonly ApiScope[] {
  const names = stepUps.map(({ scope }) => scope)
  const unknown = names.find((name) => !scopes.some((scope) => scope.name === name))
  if (unknown !== undefined) throw conflict(`The API has no scope ${unknown}, which step_up names.`)
  const repeated = names.find((name, index) => names.indexOf(name) < index)
  if (repeated !== undefined) throw conflict(`The scope ${repeated} is named twice by step_up.`)
  return scopes.map((scope) => {
    const given = stepUps.find((one) => one.scope === scope.name)
    if (given === undefined) return scope
    const { level, max_age } = given
    return stepUpBy(scope, level === 'none' ? null : { level, max_age })
  })
}

type GivenText = NonNullable<z.output<typeof UPDATE_INPUT>['texts']>[number]

/** @throws AdminError when the API has no such scope, or a scope would have no text left */
function withTexts(
  { name, scopes }: Pick<ApiDeclaration, 'name' | 'scopes'>,
  texts: readonly GivenText[] = [],
): Pick<ApiDeclaration, 'name' | 'scopes'> {
  const unknown = texts.find(({ scope }) => scope !== undefined && !scopes.some((one) => one.name === scope))?.scope
  if (unknown !== undefined) throw conflict(`The API has no scope ${unknown}, which texts names.`)
  const given = (scope: string | undefined) => texts.filter((one) => one.scope === scope)
  return {
    name: withEach(name, given(undefined)),
    scopes: scopes.map((scope) => {
      const sentence = withEach(scope.sentence, given(scope.name))
      if (sentence === undefined) throw conflict(`The scope ${scope.name} needs a text: give one in another language.`)
      return { ...scope, sentence }
    }),
  }
}

function withEach(before: LocalizedText | undefined, texts: readonly GivenText[]): LocalizedText | undefined {
  const given = texts.map(({ language, text }) => [language, text === '' ? undefined : text] as const)
  const known = before === undefined || before === '' ? {} : textsByLanguage(before)
  return localizedText({ ...known, ...Object.fromEntries(given) })
}

function stepUpBy({ name, sentence, grantedTo }: ApiScope, given: z.output<typeof STEP_UP_INPUT> | null): ApiScope {
  const scope = { name, sentence, grantedTo }
  if (given === null) return scope
  return { ...scope, stepUp: { level: given.level === 'phr' ? 3 : 2, maxAge: given.max_age ?? undefined } }
}

/** Opaque tokens are not JWTs, so a change to opaque tokens resets the algorithm and the type. */
function tokensOf(before: ApiTokens, input: z.output<typeof TOKENS_INPUT>): ApiTokens {
  const { format, lifetime, algorithm, jwt_type, application_subject, binding } = input
  const kept = format === 'opaque' ? SERVER_TOKENS : before
  return {
    format: format ?? before.format,
    lifetime: lifetime === undefined ? before.lifetime : (lifetime ?? undefined),
    algorithm: algorithm === undefined ? kept.algorithm : (algorithm ?? undefined),
    jwtType: jwt_type ?? kept.jwtType,
    applicationSubject: application_subject ?? before.applicationSubject,
    binding: binding ?? before.binding,
  }
}

async function describeKept(context: TaskContext, api: ApiRecord): Promise<KeptApiDocument> {
  const declared = await context.store.listApis()
  const notices = [
    await algorithmNotice(context, api),
    sharedNotice(api, declared),
    exchangeNotice(api, declared),
    groupsNotice(api),
  ]
  return { ...API.show(api), notice: notices.filter((notice) => notice !== undefined).join(' ') || null }
}
