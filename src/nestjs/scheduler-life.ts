import type { OnApplicationBootstrap, OnModuleDestroy } from "@nestjs/common";
import type { ModulesContainer } from "@nestjs/core";
import type { Duration } from "../core/duration.ts";
import { optionError } from "../core/option-errors.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";
import type { TaskHandler } from "../scheduler/scheduler-client.ts";
import { type Decorated, decoratedMethods } from "./decorators.ts";

interface LifeOptions {
  readonly start: boolean | undefined;
  readonly drainTimeout: Duration | undefined;
}

/** Starts the scheduler with an application of NestJS, which calls its hooks, and stops it. */
export class SchedulerLife implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #scheduler: Scheduler;
  readonly #modules: ModulesContainer;
  readonly #options: LifeOptions;
  #isDestroyed = false;

  constructor(scheduler: Scheduler, modules: ModulesContainer, options: LifeOptions) {
    this.#scheduler = scheduler;
    this.#modules = modules;
    this.#options = options;
  }

  async onApplicationBootstrap(): Promise<void> {
    const instances = [...this.#instances()];
    assertOneOfEach(instances);
    // Together, so that they share a commit.
    await Promise.all(instances.map((instance) => this.#register(instance)));
    // An application that is closed while it starts calls both hooks, in any order.
    if ((this.#options.start ?? true) && !this.#isDestroyed) await this.#scheduler.start();
  }

  async onModuleDestroy(): Promise<void> {
    this.#isDestroyed = true;
    const { drainTimeout } = this.#options;
    await this.#scheduler.stop(drainTimeout === undefined ? {} : { drainTimeout });
  }

  /** What the modules provide that has decorated methods. Providers may have several names. */
  #instances(): Set<object> {
    const instances = new Set<object>();
    for (const { providers, controllers } of this.#modules.values()) {
      for (const wrapper of [...providers.values(), ...controllers.values()]) {
        const { instance, name, metatype, isNotMetatype } = wrapper;
        const shape: unknown = isNotMetatype ? instance : metatype?.prototype;
        const [method] = typeof shape === "object" && shape !== null ? decoratedMethods(shape) : [];
        if (method === undefined) continue;
        if (!wrapper.isDependencyTreeStatic() || wrapper.isTransient) {
          throw optionError(
            "EscapementModule",
            `${String(name)}.${String(method.name)}`,
            "must be of a class with the default scope, because no request makes an instance for a job",
          );
        }
        instances.add(Object(instance));
      }
    }
    return instances;
  }

  async #register(instance: object): Promise<void> {
    const registered = decoratedMethods(instance).map(({ name, register }) => {
      const method = (instance as Readonly<Record<string | symbol, TaskHandler<never>>>)[name];
      return register(this.#scheduler, (payload, context) => method?.call(instance, payload, context));
    });
    await Promise.all(registered);
  }
}

/** A scheduler takes the last handler of a task, as when a module is loaded again: here, another method is a mistake.
 *  Two instances of one class have the same one. @throws {OptionsError} */
function assertOneOfEach(instances: readonly object[]): void {
  const known = new Map<string, Decorated & { readonly of: string }>();
  for (const instance of instances) {
    for (const method of decoratedMethods(instance)) {
      const other = known.get(method.id);
      const of = `${instance.constructor.name}.${String(method.name)}`;
      if (other === undefined) known.set(method.id, { ...method, of });
      else if (other.register !== method.register) {
        throw optionError("EscapementModule", of, `has the id ${JSON.stringify(method.id)}, as ${other.of} has`);
      }
    }
  }
}
