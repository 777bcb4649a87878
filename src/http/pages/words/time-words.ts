/** Spans and moments; as shell-words.ts says. */
export const TIME_WORDS = {
  span_days: ['{n} d', '{n} д'],
  span_hours: ['{n} h', '{n} ч'],
  span_minutes: ['{n} min', '{n} мин'],
  span_seconds: ['{n} s', '{n} с'],
  ago: ['{span} ago', '{span} назад'],
  never: ['never', 'никогда'],
  of_budget: ['/ {span}', '/ {span}'],
  oldest: ['Oldest {span}', 'Старейшее {span}'],
  past_budget: ['past its budget', 'сверх срока'],
} as const satisfies Record<string, readonly [en: string, ru: string]>;
