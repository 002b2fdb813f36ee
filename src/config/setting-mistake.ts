import type * as z from 'zod'

/** Describes what is wrong with a setting, as the end of a sentence that begins with the name of the setting. */
export function describeIssue(issue: z.core.$ZodIssue): string {
  const { message } = issue
  if (message.startsWith('must')) return message
  switch (issue.code) {
    case 'too_small':
      return issue.origin === 'string'
        ? `must have at least ${issue.minimum} characters`
        : `must be at least ${issue.minimum}`
    case 'too_big':
      return issue.origin === 'string'
        ? `must have at most ${issue.maximum} characters`
        : `must be at most ${issue.maximum}`
    case 'invalid_type':
      return `must be a ${issue.expected === 'int' ? 'whole number' : issue.expected}`
    case 'invalid_value':
      return `must be one of ${issue.values.join(', ')}`
    default:
      return `is not acceptable: ${message.charAt(0).toLowerCase()}${message.slice(1)}`
  }
}
