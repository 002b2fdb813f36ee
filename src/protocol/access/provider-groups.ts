import { MAXIMA } from '../../base/maxima.ts'
import { isObject } from '../../base/json.ts'
import { GROUP_ID_FORM, type GroupId, parseGroupId } from './group.ts'

/** A value that the claim of a provider may have, and the group that it means. */
interface ProviderGroup {
  readonly value: string
  readonly group: GroupId
}

/** The same as an administrator writes it: `8f3c…=finance`. A value may have a `=`, such as that of a directory; the last one ends it. */
export const PROVIDER_GROUP_FORM = new RegExp(
  `^[^\\p{C}\\p{Zl}\\p{Zp}]{1,${MAXIMA.providerGroupValue.most}}=${GROUP_ID_FORM.source.slice(1).replaceAll('=', '')}`,
  'u',
)

/** Returns undefined if the text does not have the syntax of a pair. */
export function parseProviderGroup(text: string): ProviderGroup | undefined {
  const value = valueOf(text)
  const group = parseGroupId(text.slice(value.length + 1))
  const isPair = PROVIDER_GROUP_FORM.test(text) && value.length <= MAXIMA.providerGroupValue.most
  return group === undefined || !isPair ? undefined : { value, group }
}

/** The groups that a list of pairs names, each once. */
export function groupsIn(list: readonly string[]): readonly GroupId[] {
  return [...new Set(list.map(parseProviderGroup).flatMap((pair) => pair?.group ?? []))]
}

/** Whether a list of pairs names the group. What follows the last `=` of a pair is the group, so that nothing is parsed. */
export function namesGroup(list: readonly string[], group: GroupId): boolean {
  return list.some((text) => text.endsWith(`=${group}`))
}

/** The values of a list of pairs, each once. */
export function valuesIn(list: readonly string[]): readonly string[] {
  return [...new Set(list.map(valueOf))]
}

/** The pairs of a list whose value is one of `values`, byte for byte. */
export function pairsWith(list: readonly string[], values: readonly string[]): readonly string[] {
  const said = new Set(values)
  return list.filter((text) => said.has(valueOf(text)))
}

function valueOf(text: string): string {
  return text.slice(0, text.lastIndexOf('='))
}

/**
 * Reads the values of a claim: a list of texts, or one text. The name is that of a member, or a path: `realm_access.roles`. Other types and longer
 * texts have no value. `too-many`: a part of the list would take the person out of a group that the provider says. undefined: the claim is absent.
 */
export function readGroupValues(
  claims: Readonly<Record<string, unknown>>,
  name: string,
): readonly string[] | 'too-many' | undefined {
  const found = findMember(claims, name)
  if (found === undefined) return undefined
  const values: readonly unknown[] = Array.isArray(found) ? found : [found]
  if (values.length > MAXIMA.providerGroupValues.most) return 'too-many'
  return values.filter((one) => typeof one === 'string' && one.length <= MAXIMA.providerGroupValue.most) as string[]
}

/** A name with dots may be that of one member, such as the URL of a claim. */
function findMember(claims: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name]
  return name
    .split('.')
    .reduce<unknown>((value, part) => (isObject(value) && Object.hasOwn(value, part) ? value[part] : undefined), claims)
}

/**
 * Whether Microsoft Entra left the groups out of the token, because there are too many. The token then has a pointer, which is never followed:
 * it has the address of an API that the token chose.
 */
export function isOverage(claims: Readonly<Record<string, unknown>>, name: string): boolean {
  const pointers = claims['_claim_names']
  const isPointed = isObject(pointers) && Object.hasOwn(pointers, name)
  return isPointed || (name === 'groups' && [true, 'true'].includes(claims['hasgroups'] as boolean))
}
