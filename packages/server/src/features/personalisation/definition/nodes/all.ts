// Written by `npm run documents`, from `nodeCategories` of the contract.
import { cohort } from './cohort.ts'
import { conditions } from './conditions.ts'
import { context } from './context.ts'
import { datasource } from './datasource.ts'
import { empty } from './empty.ts'
import { events } from './events.ts'
import { experiment } from './experiment.ts'
import { html } from './html.ts'
import { image } from './image.ts'
import { json } from './json.ts'
import { parameter } from './parameter.ts'
import { redirect } from './redirect.ts'
import { split } from './split.ts'
import { transform } from './transform.ts'

export const allNodes = {
  datasource,
  parameter,
  events,
  transform,
  context,
  conditions,
  cohort,
  split,
  experiment,
  json,
  html,
  image,
  redirect,
  empty,
}
