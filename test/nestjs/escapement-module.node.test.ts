import "reflect-metadata";
import { type DynamicModule, Inject, Module, Scope } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { describe, expect, onTestFinished, test } from "vitest";
import { Scheduler } from "../../src/mod.ts";
import { EscapementModule, type HandlerDecorator, Handles, Scheduled } from "../../src/nestjs/mod.ts";
import { Scheduler as StoredScheduler } from "../../src/scheduler.ts";
import { setUp } from "../scheduler/support.ts";

/** What `@decorator method() {}` does in a class. */
function decorate(target: { readonly prototype: object }, name: string, decorator: HandlerDecorator<never>): void {
  decorator(target.prototype, name, Object.getOwnPropertyDescriptor(target.prototype, name) ?? {});
}

/** An application of one module that imports others. */
async function start(imports: readonly DynamicModule[], providers: readonly object[] = []) {
  class AppModule {}
  Module({ imports: [...imports], providers: providers as [] })(AppModule);
  const app = await NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false });
  onTestFinished(() => app.close());
  return app;
}

describe("decorated methods", () => {
  class Base {
    readonly name: string = "base";
    readonly calls: string[] = [];
    charge(payload: { readonly customer: string }): void {
      this.calls.push(`${this.name} charges ${payload.customer}`);
    }
    report(payload: string): void {
      this.calls.push(`${this.name} reports ${payload}`);
    }
  }
  class Service extends Base {
    override readonly name = "service";
    override report(payload: string): void {
      super.report(payload.toUpperCase());
    }
  }
  decorate(Base, "charge", Handles("charge"));
  decorate(Base, "report", Scheduled("overridden", "0 9 * * *"));
  decorate(Service, "report", Scheduled<string>("report", "0 9 * * *", { payload: "sales" }));

  test("handle jobs with the instance that the module provides, those of a class that was extended too", async () => {
    const { scheduler } = setUp();
    const app = await start(
      [EscapementModule.forRoot(scheduler)],
      [Service, { provide: "alias", useExisting: Service }],
    );
    const charged = await scheduler.addJob("charge", { payload: { customer: "Ada" } });
    const reported = await scheduler.runScheduleNow("report");
    await Promise.all([charged.wait(), reported.wait()]);
    expect(app.get(Service).calls.sort()).toEqual(["service charges Ada", "service reports SALES"]);
    expect((await scheduler.getSchedules()).items.map(({ id }) => id)).toEqual(["report"]);
  });

  test("of a class that is made for each request are refused", async () => {
    const { scheduler } = setUp();
    const provider = { provide: Service, useClass: Service, scope: Scope.REQUEST };
    await expect(start([EscapementModule.forRoot(scheduler)], [provider])).rejects.toThrow(
      "Service.report must be of a class with the default scope",
    );
    expect(scheduler.state).toBe("stopped");
  });

  test("of one id are refused, because the first would never be called", async () => {
    class Twin {
      report(): void {}
    }
    decorate(Twin, "report", Handles("report"));
    const { scheduler } = setUp();
    await expect(start([EscapementModule.forRoot(scheduler)], [Service, Twin])).rejects.toThrow(
      'EscapementModule: Twin.report has the id "report", as Service.report has',
    );
    expect(scheduler.state).toBe("stopped");
  });

  test("need the decorators that NestJS needs", () => {
    const standard = { kind: "method", name: "report" };
    expect(() => Scheduled("a", "0 9 * * *")(() => {}, standard as never, {})).toThrow(
      '"experimentalDecorators": true',
    );
  });
});

test("the scheduler is injected by either class, starts with the application, and ends before what jobs use", async () => {
  const { scheduler } = setUp();
  const order: string[] = [];
  class Database {
    onModuleDestroy(): void {
      order.push(`database ends, the scheduler is ${scheduler.state}`);
    }
  }
  class DatabaseModule {}
  class Consumer {
    readonly scheduler: Scheduler;
    constructor(injected: Scheduler) {
      this.scheduler = injected;
    }
    onApplicationBootstrap(): void {
      order.push(`the root begins, the scheduler is ${scheduler.state}`);
    }
  }
  Inject(Scheduler)(Consumer, undefined, 0);
  const database = { module: DatabaseModule, providers: [Database], exports: [Database] };
  const made: unknown[] = [];
  const jobs = EscapementModule.forRootAsync({
    imports: [database],
    inject: [Database],
    useFactory: async (injected: Database) => {
      made.push(injected);
      return scheduler;
    },
  });
  const app = await start([database, jobs], [Consumer]);
  expect(made).toEqual([app.get(Database)]);
  expect([app.get(Consumer).scheduler, app.get(StoredScheduler)]).toEqual([scheduler, scheduler]);
  await app.close();
  expect(order).toEqual(["the root begins, the scheduler is started", "database ends, the scheduler is stopped"]);
});

test("with start: false, the application is a client of the store", async () => {
  const { scheduler } = setUp();
  await start([EscapementModule.forRoot(scheduler, { start: false })]);
  expect(scheduler.state).toBe("stopped");
});

test("what is no scheduler, and unknown options, are refused", async () => {
  const { scheduler } = setUp();
  expect(() => EscapementModule.forRoot({} as Scheduler)).toThrow("forRoot(): scheduler must be a Scheduler");
  expect(() => EscapementModule.forRoot(scheduler, { begin: true } as object)).toThrow("begin");
  const wrong = EscapementModule.forRootAsync({ useFactory: () => ({}) as Scheduler });
  await expect(start([wrong])).rejects.toThrow("forRootAsync(): scheduler must be a Scheduler");
});

test("an application that is closed while it starts leaves no scheduler that runs", async () => {
  const { scheduler } = setUp();
  class AppModule {}
  Module({ imports: [EscapementModule.forRoot(scheduler)] })(AppModule);
  const app = await NestFactory.create(AppModule, { logger: false, abortOnError: false });
  await Promise.all([app.init(), app.close()]);
  expect(scheduler.state).toBe("stopped");
});
