import type { Language } from '../base/language.ts'
import type { View } from './layout.ts'

const known = new Map<Language, Intl.RelativeTimeFormat>()

const minute = 60
const hour = 60 * minute
const day = 24 * hour
const month = 30 * day
const year = 365 * day

/** An age as text: "3 minutes ago". */
export function ago({ language, texts }: Pick<View, 'language' | 'texts'>, ageSeconds: number): string {
  if (ageSeconds < minute) return texts.say('momentsAgo')
  const say = (unit: Intl.RelativeTimeFormatUnit, seconds: number): string =>
    formatOf(language).format(-Math.floor(ageSeconds / seconds), unit)
  if (ageSeconds < hour) return say('minute', minute)
  if (ageSeconds < 2 * day) return say('hour', hour)
  if (ageSeconds < 2 * month) return say('day', day)
  if (ageSeconds < 2 * year) return say('month', month)
  return say('year', year)
}

/** A time to wait as text, always rounded up: "in 30 seconds", "in 2 minutes". */
export function inAWhile(language: Language, waitSeconds: number): string {
  const seconds = Math.max(1, Math.ceil(waitSeconds))
  if (seconds <= 90) return formatOf(language).format(seconds, 'second')
  if (seconds <= 90 * minute) return formatOf(language).format(Math.ceil(seconds / minute), 'minute')
  return formatOf(language).format(Math.ceil(seconds / hour), 'hour')
}

/** Created for the first page that needs it: ICU's data of a language takes 7 MB, and few servers show such a page soon. */
function formatOf(language: Language): Intl.RelativeTimeFormat {
  const format = known.get(language) ?? new Intl.RelativeTimeFormat(language, { numeric: 'always' })
  known.set(language, format)
  return format
}

const days = new Map<Language, Intl.DateTimeFormat>()

/** A day as text: "1 June 2026". Days begin at midnight UTC. */
export function onDay(language: Language, time: number): string {
  const format =
    days.get(language) ?? new Intl.DateTimeFormat(localeOf(language), { dateStyle: 'long', timeZone: 'UTC' })
  days.set(language, format)
  return format.format(time)
}

/** The order of day and month in English is that of most countries. */
function localeOf(language: Language): string {
  return language === 'en' ? 'en-GB' : language
}

/** A time as text: "1 June 2026 at 14:05 UTC". Only mails have it: a page shows ages. */
export function atTime(language: Language, time: number): string {
  const options = { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' } as const
  return `${new Intl.DateTimeFormat(localeOf(language), options).format(time)} UTC`
}

/** A length of time as text, in the largest unit in which it is whole: "15 minutes", "24 hours", "7 days". */
export function lasting(language: Language, seconds: number): string {
  const [unit, length] = seconds > day && seconds % day === 0 ? DAYS : seconds % hour === 0 ? HOURS : MINUTES
  const format = new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' })
  return format.format(Math.max(1, Math.floor(seconds / length)))
}

const DAYS = ['day', day] as const
const HOURS = ['hour', hour] as const
const MINUTES = ['minute', minute] as const
