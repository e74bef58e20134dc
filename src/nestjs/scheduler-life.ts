import type { OnApplicationBootstrap, OnModuleDestroy } from "@nestjs/common";
import type { ModulesContainer } from "@nestjs/core";
import type { Duration } from "../core/duration.ts";
import { optionError } from "../core/option-errors.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";
import type { TaskHandler } from "../scheduler/scheduler-client.ts";
import { decoratedMethods } from "./decorators.ts";

interface LifeOptions {
  readonly start: boolean | undefined;
  readonly drainTimeout: Duration | undefined;
}

/** Starts the scheduler with an application of NestJS, which calls its hooks, and stops it. */
export class SchedulerLife implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #scheduler: Scheduler;
  readonly #modules: ModulesContainer;
  readonly #options: LifeOptions;

  constructor(scheduler: Scheduler, modules: ModulesContainer, options: LifeOptions) {
    this.#scheduler = scheduler;
    this.#modules = modules;
    this.#options = options;
  }

  async onApplicationBootstrap(): Promise<void> {
    // Together, so that they share a commit.
    await Promise.all([...this.#instances()].map((instance) => this.#register(instance)));
    if (this.#options.start ?? true) await this.#scheduler.start();
  }

  async onModuleDestroy(): Promise<void> {
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
