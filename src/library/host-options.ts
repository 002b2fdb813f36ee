import * as z from 'zod'
import { ConfigError } from '../config/config.ts'
import type { GrantorOptions } from './options.ts'

const TEXT = z.string('must be a string').nullish()
const GROUP = 'must be an object'
const FUNCTION = z.custom((value) => typeof value === 'function', 'must be a function')

/** The types of the options, because a host in JavaScript has no compiler that checks them. readConfig checks the values. */
const OPTIONS = z.object(
  {
    issuer: z.string('must be a string'),
    database: TEXT,
    secret: TEXT,
    previousSecret: TEXT,
    settings: z.looseObject({}, GROUP).nullish(),
    trustProxy: z.array(z.string('must be a string'), 'must be a list of strings').nullish(),
    branding: z
      .object(
        {
          name: TEXT,
          accent: TEXT,
          logo: TEXT,
          texts: TEXT,
          contact: TEXT,
          termsUri: TEXT,
          privacyUri: TEXT,
          productUri: TEXT,
        },
        GROUP,
      )
      .nullish(),
    people: z.object({ current: FUNCTION, signInAddress: FUNCTION, signOutAddress: TEXT }, GROUP).nullish(),
    admin: z.object({ port: z.number('must be a number'), host: TEXT }, GROUP).nullish(),
    log: FUNCTION.nullish(),
  },
  'The options must be an object',
)

/**
 * Returns the options of a host in which null, as JSON and `??` have it, is what undefined is: the default.
 *
 * @throws ConfigError with each option that has a wrong type
 */
export function checkOptions(options: GrantorOptions): GrantorOptions {
  const { data, error } = OPTIONS.safeParse(options)
  if (error !== undefined)
    throw new ConfigError(error.issues.map(({ path, message }) => [path.join('.'), message].join(' ').trim()))
  const { settings, branding, admin, ...others } = data
  return withoutNull({
    ...others,
    settings: withoutNull(settings ?? {}),
    branding: withoutNull(branding ?? {}),
    admin: admin && withoutNull(admin),
    // The object itself, because its methods may use `this`.
    people: options.people,
  }) as GrantorOptions
}

function withoutNull<Members extends object>(members: Members): Partial<Members> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null)) as Partial<Members>
}

/**
 * Returns a function that passes lines to the log of the host, a method that may use `this`. What the log throws, or rejects with, is
 * dropped: a log that is down neither fails a request nor ends the process.
 */
export function guardedLog(options: GrantorOptions): (line: string) => void {
  return (line) => {
    try {
      void Promise.resolve(options.log?.(line) as unknown).catch(() => undefined)
    } catch {
      return
    }
  }
}
